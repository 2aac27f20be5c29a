// What the protocol tests share beyond test/support: requests by a plain HTTP client without redirects or repairs, token
// contents, and a movable clock.
import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Agent, redeem, requestTokens, type Tokens } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp, type TestApp, type TestAppOptions } from '../support/app.ts';

export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the answer is no JSON object. */
  readonly body: Json;
}

export interface Client {
  readonly id: string;
  readonly secret: string;
}

export interface User {
  readonly id: string;
  readonly username: string;
}

function objectOf(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export async function call(
  app: Pick<TestApp, 'url'>,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await fetch(`${app.url}${path}`, { ...init, method, redirect: 'manual' });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: objectOf(text) };
}

/** @param fields pairs where a name is to be sent twice */
export const postForm = (
  app: Pick<TestApp, 'url'>,
  path: string,
  fields: Record<string, string> | readonly [string, string][],
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call(app, 'POST', path, {
    headers,
    body: new URLSearchParams(Array.isArray(fields) ? [...fields] : { ...fields }),
  });

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

export const basic = ({ id, secret }: Client): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

export const introspect = (
  app: Pick<TestApp, 'url'>,
  token: string,
  headers: Record<string, string> = bearer(ADMIN_TOKEN),
): Promise<Answer> => postForm(app, '/oauth2/introspect', { token }, headers);

/** By the administrator's introspection; anything but the two allowed answers fails. */
export async function isActive(app: Pick<TestApp, 'url'>, token: string): Promise<boolean> {
  const { status, text, body } = await introspect(app, token);
  equal(status, 200, text);
  if (body.active !== true) equal(text, '{"active":false}');
  return body.active === true;
}

export const userinfo = (app: Pick<TestApp, 'url'>, token: string): Promise<Answer> =>
  call(app, 'GET', '/oauth2/userinfo', { headers: bearer(token) });

export const headerOf = (jwt: string): Json => ({ ...decodeProtectedHeader(jwt) });
export const claimsOf = (jwt: string): Json => ({ ...decodeJwt(jwt) });

export const epoch = (): number => Math.floor(Date.now() / 1000);

export async function change(app: TestApp, settings: Record<string, unknown>): Promise<void> {
  const { status, body } = await app.admin('PATCH', '/settings', settings);
  equal(status, 200, JSON.stringify(body));
}

/** Signs in with a new browser and redeems the code. */
export async function tokensOf(
  app: TestApp,
  client: Client,
  user: { readonly username: string; readonly password?: string },
  parameters: Record<string, string | undefined> = {},
  agent: Agent = new Agent(app),
): Promise<Tokens['body']> {
  const { status, body } = await redeem(app, client, await agent.signIn(client.id, user, parameters));
  equal(status, 200, JSON.stringify(body));
  return body;
}

export async function sessionsOf(app: TestApp, userId: string): Promise<Json[]> {
  const { status, body } = await app.admin('GET', `/users/${userId}/sessions`);
  equal(status, 200, JSON.stringify(body));
  return body.data.items ?? [];
}

/**
 * Runs `act` as if it were that much later: for the product and for the protocol core alike, whose clock
 * `TestApp.advance` does not move. The clock stands still meanwhile.
 */
export async function later<T>(ms: number, act: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ['Date'], now: Date.now() + ms });
  try {
    return await act();
  } finally {
    mock.timers.reset();
  }
}

/** An application of its own for what must not touch other tests (settings, time, the first run). */
export async function withApp(options: TestAppOptions, act: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await startApp({ store: 'sqlite', ...options });
  try {
    await act(app);
  } finally {
    await app.stop();
  }
}

/** By any grant, with client_secret_basic. */
export async function requestTokensOf(
  app: TestApp,
  client: Client,
  parameters: Record<string, string>,
): Promise<Tokens['body']> {
  const { status, body } = await requestTokens(app, client, parameters);
  equal(status, 200, JSON.stringify(body));
  return body;
}
