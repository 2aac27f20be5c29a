// A running application with one of everything that the admin API shows, and a valid request for each of its routes: the start
// of tests over all routes.
import { equal, ok } from 'node:assert/strict';
import { exampleOf } from '../../src/admin/api/examples.ts';
import type { Route } from '../../src/admin/api/route.ts';
import { createTrustedDevices } from '../../src/second-factors/trusted-devices.ts';
import { accounts, trustedDevices } from '../../src/store/collections.ts';
import { passkeys } from '../../src/store/passkeys.ts';
import { update } from '../../src/store/update.ts';
import { type Answer, type CallOptions, dataOf, itemsOf, send } from '../admin/answers.ts';
import { Agent, redeem } from './agent.ts';
import { declaredRoutes } from './api-document.ts';
import { ADMIN_TOKEN, startApp, type TestApp, type TestAppOptions } from './app.ts';

/** A picture of one. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export interface ApiWorld {
  readonly app: TestApp;
  /** By the name of the path parameter, and by the first part of the path. */
  readonly ids: Readonly<Record<string, string>>;
  api(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The route's address with ids of what there is, or of what `other` says, by parameter. */
  addressOf(route: Pick<Route, 'path'>, other?: Readonly<Record<string, string>>): string;
  /** Everything that the lists show but the audit log, by path. */
  snapshot(): Promise<Record<string, string>>;
}

/** Lists of things that belong to one other thing. */
/** A single thing may have a query, too. */
const isList = ({ method, query, path }: Route): boolean =>
  method === 'GET' && query !== undefined && !path.endsWith('}') && !path.endsWith('/token-preview');

/** A body that the route takes; undefined where it takes none. */
export const bodyFor = (route: Route): Readonly<Record<string, unknown>> | undefined => {
  if (route.body === undefined) return undefined;
  if (route.path === '/settings') return { product_name: 'Acme' };
  const example = exampleOf(route.body, 'short');
  ok(typeof example === 'object' && example !== null);
  return { ...example };
};

export const sendsBody = ({ body, lines }: Route): boolean => body !== undefined || lines !== undefined;

export async function startApiWorld(options: TestAppOptions = {}): Promise<ApiWorld> {
  const app = await startApp(options);
  const { store, now } = app;
  const api: ApiWorld['api'] = (method, path, body, more = {}) =>
    send(`${app.url}/admin/api${path}`, method, body, { bearer: ADMIN_TOKEN, ...more });
  const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await api('POST', path, body);
    equal(answer.status, 201, answer.text);
    return dataOf(answer);
  };

  await app.createUser('keeper', { role: 'admin' });
  const user = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
  const client = await app.register();
  const { status } = await redeem(app, client, await new Agent(app).signIn(client.id, user));
  equal(status, 200);
  await made('/groups', { name: 'staff', display_name: 'Staff' });
  equal((await api('POST', '/groups/staff/members', { user_id: user.id })).status, 200);
  const apiKey = await made('/api-keys', { name: 'Nightly export' });
  const resource = await made('/resources', {
    identifier: 'https://api.example.com',
    name: 'Orders',
    scopes: [{ name: 'orders:read', description: 'See your orders', roles: ['admin'], is_default: true }],
    machine_grants: { [client.id]: ['orders:read'] },
  });
  const registration = await made('/initial-access-tokens', { label: 'Partner' });
  const picture = await made('/branding/pictures', { data: PIXEL });
  const invitation = await made('/invitations', { email: 'bob@example.com', send_mail: false });
  equal((await api('POST', `/users/${user.id}/send-password-reset`)).status, 200);

  const passkeyId = 'cGFzc2tleS1vZi1hbGljZQ';
  await store.collection(passkeys).insert(passkeyId, {
    accountId: user.id,
    publicKey: 'AA',
    counter: 0,
    transports: ['usb'],
    deviceType: 'singleDevice',
    isBackedUp: false,
    aaguid: '00000000-0000-0000-0000-000000000000',
    label: 'Key',
    isUserVerified: true,
    createdAt: now(),
  });
  const changed = await update(store.collection(accounts), user.id, (value) => ({
    value: { ...value, passkeys: [{ id: passkeyId, kind: 'passkey' as const }] },
  }));
  ok(changed);
  const devices = createTrustedDevices({
    collection: store.collection(trustedDevices),
    clock: now,
    settings: () => ({ trusted_device_seconds: 1000 }),
  });
  const account = await app.app.accounts.find(user.id);
  ok(account);
  await devices.create({ account, ipAddress: '203.0.113.7', userAgent: 'x', label: 'Firefox on Linux' });

  const firstOf = async (path: string): Promise<string> => {
    const [first] = itemsOf(await api('GET', path));
    ok(first, path);
    return String(first.id);
  };
  const ids: Record<string, string> = {
    users: user.id,
    clients: client.id,
    groups: 'staff',
    'api-keys': String(apiKey.id),
    resources: String(resource.id),
    'initial-access-tokens': String(registration.id),
    invitations: String(invitation.id),
    tokens: await firstOf(`/tokens?kind=refresh_token&user_id=${user.id}`),
    sessions: await firstOf('/sessions'),
    mails: await firstOf('/mails'),
    audit: await firstOf('/audit'),
    mail: 'invitation',
    language: 'en',
    picture: String(picture.id),
    client_id: client.id,
    user_id: user.id,
    passkey_id: passkeyId,
    session_id: await firstOf(`/users/${user.id}/sessions`),
    device_id: await firstOf(`/users/${user.id}/trusted-devices`),
    grant_id: await firstOf(`/users/${user.id}/grants`),
  };
  const addressOf: ApiWorld['addressOf'] = ({ path }, other = {}) => {
    const kind = path.split('/')[1] ?? '';
    return path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const id = other[name] ?? ids[name === 'id' ? kind : name];
      ok(id !== undefined, `${path} ${name}`);
      return id;
    });
  };

  return {
    app,
    ids,
    api,
    addressOf,
    async snapshot() {
      const lists = declaredRoutes().filter((route) => isList(route) && route.path !== '/audit');
      const shown = await Promise.all(
        [...lists, { path: '/settings' }, { path: '/keys' }].map(async (route) => {
          const answer = await api('GET', addressOf(route));
          equal(answer.status, 200, answer.text);
          return [route.path, JSON.stringify(itemsOf(answer))] as const;
        }),
      );
      return Object.fromEntries(shown);
    },
  };
}
