// Attack: broken access control (OWASP API1, API5). Every route of both APIs is called with every kind
// of credential, and every id with another user's. The table of permissions is written by hand: a route missing in it fails.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isConditional, type Route } from '../../src/admin/api/route.ts';
import { operationNames } from '../../src/model/account-api.ts';
import { placeOf } from '../../src/self-service/api-document.ts';
import { accounts } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { type Answer, dataOf, send } from '../admin/answers.ts';
import { isActive, later, postForm, requestTokensOf, tokensOf } from '../flows/support.ts';
import { declaredRoutes } from '../support/api-document.ts';
import { type ApiWorld, startApiWorld } from '../support/api-world.ts';
import { REDIRECT_URI } from '../support/app.ts';

/** `read`: also by scope admin:read and by auditors; `full`: administrators alone. */
const adminTable: Readonly<Record<string, Readonly<Record<string, 'read' | 'full'>>>> = {
  '/users': { GET: 'read', POST: 'full' },
  '/users/{id}': { GET: 'read', PUT: 'full', PATCH: 'full', DELETE: 'full' },
  '/users/unlock': { POST: 'full' },
  '/users/import': { POST: 'full' },
  '/users/{id}/unlock': { POST: 'full' },
  '/users/{id}/remove-picture': { POST: 'full' },
  '/users/{id}/deactivate': { POST: 'full' },
  '/users/{id}/reactivate': { POST: 'full' },
  '/users/{id}/revoke-sessions': { POST: 'full' },
  '/users/{id}/reset-mfa': { POST: 'full' },
  '/users/{id}/send-password-reset': { POST: 'full' },
  '/users/{id}/send-enrolment-link': { POST: 'full' },
  '/users/{id}/settle-email-change': { POST: 'full' },
  '/users/{id}/send-email-verification': { POST: 'full' },
  '/users/{id}/grants': { GET: 'read' },
  '/users/{id}/grants/{grant_id}': { DELETE: 'full' },
  '/users/{id}/sessions': { GET: 'read' },
  '/users/{id}/sessions/{session_id}': { DELETE: 'full' },
  '/users/{id}/trusted-devices': { GET: 'read' },
  '/users/{id}/trusted-devices/{device_id}': { DELETE: 'full' },
  '/users/{id}/passkeys': { GET: 'read' },
  '/users/{id}/passkeys/{passkey_id}': { DELETE: 'full' },
  '/clients': { GET: 'read', POST: 'full' },
  '/clients/{client_id}': { GET: 'read', PUT: 'full', PATCH: 'full', DELETE: 'full' },
  '/clients/{client_id}/refusals': { GET: 'read' },
  '/clients/{client_id}/token-preview': { GET: 'read' },
  '/clients/{client_id}/token-preview/{user_id}': { GET: 'read' },
  '/redirect-uris/check': { GET: 'read' },
  '/clients/{client_id}/rotate-secret': { POST: 'full' },
  '/clients/{client_id}/called-addresses': { GET: 'read' },
  '/clients/{client_id}/logout-deliveries': { GET: 'read' },
  '/clients/{client_id}/test-logout': { POST: 'full' },
  '/clients/{client_id}/branding': { GET: 'read', PUT: 'full', PATCH: 'full' },
  '/clients/{client_id}/branding/versions': { GET: 'read' },
  '/clients/{client_id}/branding/export': { GET: 'read' },
  '/clients/{client_id}/branding/restore': { POST: 'full' },
  '/resources': { GET: 'read', POST: 'full' },
  '/resources/import': { POST: 'full' },
  '/resources/{id}': { GET: 'read', PUT: 'full', PATCH: 'full', DELETE: 'full' },
  '/resources/{id}/rotate-secret': { POST: 'full' },
  '/initial-access-tokens': { GET: 'read', POST: 'full' },
  '/initial-access-tokens/{id}': { DELETE: 'full' },
  '/invitations': { GET: 'read', POST: 'full' },
  '/invitations/{id}': { DELETE: 'full' },
  '/invitations/{id}/resend': { POST: 'full' },
  '/groups': { GET: 'read', POST: 'full' },
  '/groups/{id}': { GET: 'read', PUT: 'full', PATCH: 'full', DELETE: 'full' },
  '/groups/{id}/members': { GET: 'read', POST: 'full' },
  '/groups/{id}/members/{user_id}': { DELETE: 'full' },
  '/api-keys': { GET: 'read', POST: 'full' },
  '/api-keys/{id}': { GET: 'read', DELETE: 'full' },
  '/tokens': { GET: 'read' },
  '/tokens/{id}': { GET: 'read', DELETE: 'full' },
  '/sessions': { GET: 'read' },
  '/sessions/{id}': { GET: 'read', DELETE: 'full' },
  '/stats': { GET: 'read' },
  '/settings': { GET: 'read', PUT: 'full', PATCH: 'full' },
  '/settings/export': { GET: 'read' },
  '/settings/import': { POST: 'full' },
  '/settings/mail-server': { GET: 'read', PUT: 'full' },
  '/settings/test-email': { POST: 'full' },
  '/branding': { GET: 'read', PUT: 'full', PATCH: 'full' },
  '/branding/versions': { GET: 'read' },
  '/branding/export': { GET: 'read' },
  '/branding/restore': { POST: 'full' },
  '/branding/pictures': { POST: 'full' },
  '/branding/pictures/{picture}': { GET: 'read' },
  '/branding/mails': { GET: 'read', PUT: 'full' },
  '/branding/mails/export': { GET: 'read' },
  '/branding/mails/versions': { GET: 'read' },
  '/branding/mails/restore': { POST: 'full' },
  '/branding/mails/{mail}/{language}': { GET: 'read', PUT: 'full' },
  '/keys': { GET: 'read' },
  '/keys/rotate': { POST: 'full' },
  '/mails': { GET: 'full' },
  '/mails/{id}': { GET: 'full' },
  '/audit': { GET: 'read' },
  '/audit/{id}': { GET: 'read' },
  '/openapi.json': { GET: 'read' },
};

/** Of /account/api: all are for the person alone, by a bearer of an application of our own. */
const accountTable: Readonly<Record<string, readonly string[]>> = {
  profile: ['GET', 'PATCH'],
  activity: ['GET'],
  email: ['GET', 'POST'],
  'email/make-primary': ['POST'],
  'email/remove': ['POST'],
  'email/settle': ['POST'],
  deletion: ['POST'],
  launcher: ['GET'],
  export: ['GET'],
  'report-compromise': ['POST'],
  'profile/send-email-verification': ['POST'],
  password: ['PUT'],
  totp: ['POST', 'DELETE'],
  'totp/confirm': ['POST'],
  avatar: ['PUT', 'DELETE'],
  'email-codes': ['POST', 'DELETE'],
  'recovery-codes': ['POST'],
  passkeys: ['GET'],
  'passkeys/register/begin': ['POST'],
  'passkeys/register/finish': ['POST'],
  'passkeys/{id}': ['PATCH', 'DELETE'],
  sessions: ['GET', 'DELETE'],
  'sessions/{id}': ['DELETE'],
  'trusted-devices': ['GET', 'DELETE'],
  'trusted-devices/{id}': ['DELETE'],
  applications: ['GET'],
  'applications/{id}': ['DELETE'],
};

const SCOPE = 'openid admin admin:read';
const HOURS = 3_600_000;
let world: ApiWorld;
const routes = declaredRoutes();
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

before(async () => {
  world = await startApiWorld({ store: 'sqlite' });
});
after(() => world?.app.stop());

/** As a request that changes nothing, should it get in. */
function knock(route: Route, token: string | null): Promise<Answer> {
  const raw = route.body === undefined ? {} : { raw: '[]' };
  const headers: Record<string, string> = {
    ...(isConditional(route) || route.isUnversioned === true ? { 'if-match': '"999999"' } : {}),
    ...(route.lines ? { 'content-type': 'application/x-ndjson' } : {}),
  };
  return world.api(route.method, world.addressOf(route), undefined, { bearer: token, headers, ...raw });
}

/** Bearers of every kind; what a credential is worth is in its name. */
async function bearers(scope: string) {
  const { app } = world;
  const client = await app.register({
    scope: `${scope} offline_access`,
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  });
  const of = async (username: string, role: string) => {
    const user = await app.createUser(username, { role });
    return { user, tokens: await tokensOf(app, client, user, { scope }) };
  };
  const suffix = scope.includes('admin') ? 'admin' : 'person';
  const root = await of(`root-${suffix}`, 'admin');
  const revoked = await of(`revoked-${suffix}`, 'admin');
  equal((await postForm(app, '/oauth2/revoke', { token: revoked.tokens.access_token })).status, 200);
  const disabled = await of(`disabled-${suffix}`, 'admin');
  // In the store alone, as when the process ended before it could take the tokens back.
  await update(app.store.collection(accounts), disabled.user.id, (value) => ({
    value: { ...value, isActive: false },
  }));
  return {
    right: root.tokens.access_token,
    refused: {
      none: null,
      'a made-up one': 'wrong',
      'an ID token, whose audience is the application': root.tokens.id_token,
      'a refresh token': root.tokens.refresh_token,
      revoked: revoked.tokens.access_token,
      'of a disabled administrator': disabled.tokens.access_token,
    },
    plain: (await of(`plain-${suffix}`, 'user')).tokens.access_token,
    auditor: (await of(`auditor-${suffix}`, 'auditor')).tokens.access_token,
    machine: (await requestTokensOf(app, client, { grant_type: 'client_credentials', scope: 'openid' }))
      .access_token,
  };
}

test('broken access control: the table lists exactly the routes of the admin API', () => {
  const declared = routes.map(nameOf).sort();
  const written = Object.entries(adminTable).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  deepEqual(declared, written.sort());
});

test('broken access control: each admin API route with each kind of bearer', async () => {
  const kinds = await bearers(SCOPE);
  const key = await world.api('POST', '/api-keys', { name: 'reader', scopes: ['admin:read'] });
  const readers = { auditor: kinds.auditor, 'API key that reads': String(dataOf(key).api_key) };
  const before = await world.snapshot();
  const wrong: string[] = [];
  const expect = async (route: Route, about: string, token: string | null, allowed: readonly number[]) => {
    const { status, text } = await knock(route, token);
    if (!allowed.includes(status)) wrong.push(`${nameOf(route)}, ${about}: ${status} ${text.slice(0, 120)}`);
  };
  for (const route of routes) {
    for (const [about, token] of Object.entries(kinds.refused)) await expect(route, about, token, [401]);
    await expect(route, 'of a user', kinds.plain, [403]);
    await expect(route, 'of a machine without the scope', kinds.machine, [403]);
    const mayRead = adminTable[route.path]?.[route.method] === 'read';
    for (const [about, token] of Object.entries(readers))
      await expect(route, about, token, mayRead ? [200] : [403]);
    await expect(route, 'of an administrator', kinds.right, route.method === 'GET' ? [200] : [400, 412, 200]);
  }
  await later(3 * HOURS, async () => {
    for (const route of routes) await expect(route, 'expired', kinds.right, [401]);
  });
  deepEqual(wrong, []);
  const now = await world.snapshot();
  // The key's last use is noted.
  deepEqual({ ...now, '/api-keys': '' }, { ...before, '/api-keys': '' });
});

test('broken access control: the table lists exactly the routes of the account API', async () => {
  const declared = operationNames.map((name) => placeOf(name).path.slice(1).replace(':id', '{id}'));
  deepEqual([...new Set(declared)].sort(), Object.keys(accountTable).sort());
  for (const [path, methods] of Object.entries(accountTable)) {
    const at = `${world.app.url}/account/api/${path.replace('{id}', 'x')}`;
    const answer = await send(at, 'PROPFIND', undefined, { bearer: null });
    equal(answer.status, 405, path);
    const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods;
    deepEqual((answer.headers.get('allow') ?? '').split(', ').sort(), allowed.toSorted(), path);
  }
});

test('broken access control: each account API route with each kind of bearer', async () => {
  const { app } = world;
  const kinds = await bearers('openid email account');
  const partner = await app.register({ skip_consent: false });
  const mallory = await app.createUser('mallory');
  const third = await tokensOf(app, partner, mallory, { scope: 'openid' });
  const own = await app.register({ scope: 'openid email account:read' });
  const narrow = await tokensOf(app, own, mallory, { scope: 'openid email' });
  const reader = await tokensOf(app, own, mallory, { scope: 'openid account:read' });
  const wrong: string[] = [];
  const before = await world.snapshot();
  const knockAt = async (
    [method, path]: readonly [string, string],
    about: string,
    token: string | null,
    allowed: readonly number[],
  ): Promise<void> => {
    const at = `${app.url}/account/api/${path.replace('{id}', 'x')}`;
    const raw = method === 'GET' ? {} : { raw: '[]' };
    const { status, text } = await send(at, method, undefined, { bearer: token, ...raw });
    if (!allowed.includes(status)) wrong.push(`${method} ${path}, ${about}: ${status} ${text.slice(0, 120)}`);
  };
  for (const [path, methods] of Object.entries(accountTable)) {
    for (const method of methods) {
      const route = [method, path] as const;
      for (const [about, token] of Object.entries(kinds.refused)) await knockAt(route, about, token, [401]);
      await knockAt(route, 'of a third party', third.access_token, [401, 403]);
      await knockAt(route, 'of our own, without account', narrow.access_token, [403]);
      await knockAt(route, 'of our own, to read', reader.access_token, [method === 'GET' ? 200 : 403]);
      await knockAt(route, 'of a machine', kinds.machine, [401, 403]);
      await later(3 * HOURS, () => knockAt(route, 'expired', kinds.plain, [401]));
      if (method === 'GET') await knockAt(route, 'the person’s own', kinds.plain, [200]);
    }
  }
  deepEqual(wrong, []);
  deepEqual(await world.snapshot(), before);
});

test('attack: ids of another user’s session, device, passkey and application at each route', async () => {
  const { app, ids } = world;
  const other = await app.register({ redirect_uris: [REDIRECT_URI], scope: 'openid account' });
  const mallory = await app.createUser('mallory-of-ids');
  const { access_token: token } = await tokensOf(app, other, mallory, { scope: 'openid account' });
  const before = await world.snapshot();
  const [victim = ''] = [ids.user_id];
  const theirs: Readonly<Record<string, string>> = {
    'sessions/{id}': ids.session_id ?? '',
    'trusted-devices/{id}': ids.device_id ?? '',
    'passkeys/{id}': ids.passkey_id ?? '',
    'applications/{id}': ids.client_id ?? '',
  };
  deepEqual(
    Object.keys(accountTable)
      .filter((path) => path.includes('{'))
      .sort(),
    Object.keys(theirs).sort(),
  );
  for (const [path, id] of Object.entries(theirs)) {
    ok(id !== '', path);
    for (const method of accountTable[path] ?? []) {
      const at = `${app.url}/account/api/${path.replace('{id}', encodeURIComponent(id))}`;
      const answer = await send(at, method, method === 'PATCH' ? { label: 'mine' } : undefined, {
        bearer: token,
      });
      equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
    }
  }
  // Below one user the admin API finds nothing of another: an id in the wrong place is no id.
  // (Of an application and a user neither is below the other: test/attacks/token-preview.test.ts. A language of a mail is of nobody.)
  const nested = routes.filter(
    ({ path }) => (path.match(/\{/g) ?? []).length > 1 && !/^\/(?:clients|branding\/mails)\//.test(path),
  );
  ok(nested.length >= 5, String(nested.length));
  for (const route of nested) {
    const place = route.path.startsWith('/groups') ? { user_id: mallory.id } : { id: mallory.id };
    const answer = await world.api(route.method, world.addressOf(route, place));
    equal(answer.status, 404, `${nameOf(route)}: ${answer.text}`);
  }
  deepEqual(await world.snapshot(), before);
  ok(victim !== mallory.id && (await isActive(app, token)));
});
