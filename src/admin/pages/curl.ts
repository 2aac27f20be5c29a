// Requests as shell commands to copy: an application's own (test-sign-in/outcome.ts), and the REST API request that a form
// would send. Every value is quoted for the shell; secrets appear as environment variables.

/** A POSIX shell word that evaluates to exactly this text. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const curlOf = (url: string, ...options: readonly string[]): string =>
  [`curl ${quote(url)}`, ...options.map((option) => `  ${option}`)].join(' \\\n');

export interface ApiCall {
  /** @param baseUrl BASE_URL */
  readonly curl: (baseUrl: string) => string;
}

/** @param version sent as If-Match; the API answers 412 when the item has changed since */
export const apiCall = (
  method: 'POST' | 'PATCH' | 'PUT',
  path: string,
  body: Readonly<Record<string, unknown>>,
  version?: number | undefined,
): ApiCall => ({
  curl: (baseUrl) =>
    curlOf(
      `${baseUrl}/admin/api${path}`,
      `-X ${method}`,
      '-H "Authorization: Bearer $ADMIN_TOKEN"',
      "-H 'Content-Type: application/json'",
      ...(version === undefined ? [] : [`-H ${quote(`If-Match: "${version}"`)}`]),
      `--data-raw ${quote(JSON.stringify(body, undefined, 2))}`,
    ),
});
