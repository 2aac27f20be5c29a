// One application and who calls it, for the test over all rows: requests as each of six callers, pages as an administrator.
import { equal } from 'node:assert/strict';
import { membersOf as membersIn } from '../admin/answers.ts';
import { type Answer, bearer, type Client, call, tokensOf, type User } from '../flows/support.ts';
import { Agent, type Page } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';

export type Members = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? membersIn(value) : {};

/** `operator`: ADMIN_TOKEN, which prepares and looks, and is nobody's caller. */
export type Caller = 'fresh' | 'stale' | 'auditor' | 'key' | 'registrant' | 'owner';
export const CALLERS: readonly Caller[] = ['fresh', 'stale', 'auditor', 'key', 'registrant', 'owner'];

export interface World {
  readonly app: TestApp;
  readonly client: Client;
  readonly bearerOf: (caller: Caller | 'operator') => Promise<string>;
  /** As JSON, at the admin API. */
  send(caller: Caller | 'operator', method: string, path: string, body?: unknown): Promise<Answer>;
  /** What GET answers, at the admin API. */
  read(path: string): Promise<Members>;
  /** Of the Admin UI, as an administrator who has just signed in. */
  agent(): Promise<Agent>;
  page(path: string): Promise<Page>;
  newUser(fields?: Members): Promise<User>;
}

export const sendAs = (app: TestApp, token: string, method: string, path: string, body?: unknown) =>
  call(app, method, path, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** However slow the machine is: what was got at that time is fresh for five minutes of it. */
const RENEWED_MS = 60_000;

export async function createWorld(): Promise<World> {
  const app = await startApp();
  const scope = 'openid profile email phone address roles groups account admin admin:read';
  const client = await app.register({ scope });
  let people = 0;
  const newUser = (fields: Members = {}): Promise<User> => {
    people += 1;
    const email = `person-${people}@example.com`;
    return app.createUser(`person-${people}`, { email, phone_number: '+41 44 123 45 67', ...fields });
  };
  await app.admin('PATCH', '/settings', { legacy_profiles: true, allow_username_change: true });
  await app.admin('POST', '/groups', { name: 'staff' });
  await app.admin('POST', '/resources', { identifier: 'https://api.example.com/', name: 'API' });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('auditor', { role: 'auditor' });
  const owner = await newUser();
  const tokenOf = async (username: string, asked: string): Promise<string> =>
    String((await tokensOf(app, client, { username }, { scope: `openid ${asked}` })).access_token);

  const stale = await tokenOf('root-admin', 'admin');
  app.advance(301_000);
  const auditor = await tokenOf('auditor', 'admin:read');
  const ownersOwn = await tokenOf(owner.username, 'account');
  const made = await app.admin('POST', '/api-keys', {
    name: 'rows',
    scopes: ['admin'],
    expires_in_seconds: 86_400,
  });
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'rows', uses: 1 });
  const registered = await sendAs(app, String(body.data.token), 'POST', '/oauth2/register', {
    redirect_uris: ['https://rp.example/callback'],
  });
  equal(registered.status, 201, registered.text);

  /** Again where it is no longer of this minute. */
  const renewed = <T>(get: () => Promise<T>): (() => Promise<T>) => {
    let known: { readonly value: T; readonly at: number } | undefined;
    return async () => {
      if (known === undefined || app.now() - known.at > RENEWED_MS)
        known = { value: await get(), at: app.now() };
      return known.value;
    };
  };
  const fresh = renewed(() => tokenOf('root-admin', 'admin'));
  const agent = renewed(async () => {
    const browser = new Agent(app);
    const page = await browser.follow(await browser.get('/admin'));
    equal((await browser.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
    return browser;
  });

  const tokens: Readonly<Record<Caller | 'operator', () => Promise<string>>> = {
    fresh,
    stale: async () => stale,
    auditor: async () => auditor,
    key: async () => String(made.body.data.api_key),
    registrant: async () => String(registered.body.registration_access_token),
    owner: async () => ownersOwn,
    operator: async () => ADMIN_TOKEN,
  };
  const world: World = {
    app,
    client,
    newUser,
    agent,
    bearerOf: (caller) => tokens[caller](),
    send: async (caller, method, path, given) =>
      sendAs(app, await tokens[caller](), method, `/admin/api${path}`, given),
    async read(path) {
      const answer = await world.send('operator', 'GET', path);
      equal(answer.status, 200, answer.text);
      return membersOf(answer.body.data);
    },
    page: async (path) => (await agent()).get(`/admin${path}`),
  };
  return world;
}
