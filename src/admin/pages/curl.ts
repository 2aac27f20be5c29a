// Requests as shell commands to copy: of an application's own (test-sign-in/outcome.ts), and what a form would
// send to the REST API. Every value is quoted for the shell; what is secret is named as a variable of the environment.

/** A word of POSIX shells that means exactly this text. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const curlOf = (url: string, ...options: readonly string[]): string =>
  [`curl ${quote(url)}`, ...options.map((option) => `  ${option}`)].join(' \\\n');

export interface ApiCall {
  /** @param baseUrl BASE_URL */
  readonly curl: (baseUrl: string) => string;
}

/** @param version what the change is meant for; where it is another by then, the API answers 412 */
export const apiCall = (
  method: 'POST' | 'PATCH',
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
