// What the driver asks of the suite and of the provider, both over HTTPS with certificates that nobody signed.
import { setTimeout as sleep } from 'node:timers/promises';

export type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) ? value[name] : undefined;
export const textIn = (value: unknown, name: string): string => {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
};

/** What `fetch` says of it is "fetch failed" alone. */
const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error
    ? `${error.message}: ${error.cause.message}`
    : String(error);

const TRIES = 3;
const PAUSE_MS = 500;

/** For requests that may arrive twice: the suite closes idle connections just as the next one goes out. */
async function fetchAgain(url: string, request: RequestInit, tries: number): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (tries <= 1) throw new Error(`${request.method} ${url}: ${causeOf(error)}`, { cause: error });
    await sleep(PAUSE_MS);
    return fetchAgain(url, request, tries - 1);
  }
}

/** @throws Error what was answered, where that is no success */
async function call(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: object | string,
): Promise<unknown> {
  const request = {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const response = await fetchAgain(url, request, method === 'POST' ? 1 : TRIES);
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
