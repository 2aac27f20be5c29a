// What the driver asks of the suite and of the provider, both over HTTPS with certificates that nobody signed.
export type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) ? value[name] : undefined;
export const textIn = (value: unknown, name: string): string => {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
};

/** @throws Error what was answered, where that is no success */
async function call(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: object | string,
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}

export interface Calls {
  /** The suite's API. */
  suite(method: string, path: string, body?: object): Promise<unknown>;
  /** A picture as a data URL. */
  upload(path: string, picture: string): Promise<unknown>;
  /** The provider's admin API. @returns `data` */
  admin(method: string, path: string, body?: object): Promise<unknown>;
}

export const createCalls = (suite: string, baseUrl: string, adminToken: string): Calls => ({
  suite: (method, path, body) => call(method, `${suite}/api/${path}`, {}, body),
  upload: (path, picture) =>
    call('POST', `${suite}/api/${path}`, { 'content-type': 'text/plain;charset=UTF-8' }, picture),
  async admin(method, path, body) {
    const headers = { authorization: `Bearer ${adminToken}` };
    return memberOf(await call(method, `${baseUrl}/admin/api${path}`, headers, body), 'data');
  },
});
