// The caller's side of tests over HTTP: sends JSON with a bearer and reads responses of the admin API.
import { ok } from 'node:assert/strict';

export const ADMIN = 'the-token-of-an-administrator-in-tests';
/** A valid token that is not an administrator's. */
export const USER = 'the-token-of-somebody-else';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is empty. */
  readonly body: unknown;
  readonly text: string;
}

export type Members = Record<string, unknown>;

export const membersOf = (value: unknown): Members => {
  ok(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    `${JSON.stringify(value)} is no object`,
  );
  return Object.fromEntries(Object.entries(value));
};
export const dataOf = (answer: Answer): Members => membersOf(membersOf(answer.body).data);
export const itemsOf = (answer: Answer): Members[] => {
  const { items } = dataOf(answer);
  ok(Array.isArray(items));
  return items.map(membersOf);
};
export const errorOf = (answer: Answer): Members => membersOf(membersOf(answer.body).error);
/** Names of the fields that an answer finds wrong, sorted. */
export const wrongFields = (answer: Answer): string[] =>
  Object.keys(membersOf(errorOf(answer).fields ?? {})).sort();

export interface CallOptions {
  /** A bearer; null: none. Default: the administrator's. */
  readonly bearer?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, instead of JSON. */
  readonly raw?: string;
}

/** Sends one request; the body is JSON unless `raw` says otherwise. */
export async function send(
  url: string,
  method: string,
  body: unknown,
  options: CallOptions,
): Promise<Answer> {
  const { bearer = ADMIN, headers = {}, raw } = options;
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}
