// Where the page of a refused form is opened by a link, so that coming back to it sends nothing again (page.js).

export interface Addressed {
  /** Where the page can be opened in another language. */
  readonly here: string;
  /** Where a refused form is without being sent again. */
  readonly at: string;
  readonly nonce: string;
}

/** @returns the address of a step of a sign-in or of a mailed link; otherwise nothing */
export function formAddress(originalUrl: string, model: object): string {
  const values: Readonly<Record<string, unknown>> = { ...model };
  const query = new URLSearchParams();
  for (const [name, value] of [
    ['interaction', values.interaction],
    ['client_id', values.clientId],
    ['token', values.token],
  ] as const)
    if (typeof value === 'string') query.set(name, value);
  const [path = ''] = originalUrl.split('?');
  return query.has('interaction') || query.has('token') ? `${path}?${query}` : '';
}
