// Tokens after a revocation, sign-out, deactivation or deletion (decisions 0004 and 0006): invalid at
// the next request to any process, at introspection, userinfo, admin API, refresh and in the browser.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import * as model from '../../src/store/collections.ts';
import * as protocol from '../../src/store/protocol-collections.ts';
import { Agent, redeem, refresh, requestTokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  claimsOf,
  introspect,
  isActive,
  postForm,
  tokensOf,
  type User,
  userinfo,
} from './support.ts';

const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789';
const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
// A second one on the same store, as another process would be: with caches of its own.
const second = await startApp({ shared: app.store, env: { SECRET_KEY, ISSUER: app.issuer } });
after(async () => {
  await second.stop();
  await app.stop();
});
// The last active administrator cannot be demoted or deactivated; this one stays.
await app.createUser('keeper', { role: 'admin' });

interface Scene {
  readonly client: Client;
  readonly user: User;
  readonly agent: Agent;
  readonly access: string;
  readonly refreshing: string;
  readonly sessionId: string;
}

let count = 0;
async function scene(): Promise<Scene> {
  count += 1;
  const client = await app.register({ scope: 'openid profile email admin offline_access' });
  const user = await app.createUser(`user-${count}`, { role: 'admin' });
  const agent = new Agent(app);
  const parameters = { scope: 'openid admin offline_access', prompt: 'consent' };
  const { access_token: access, refresh_token: refreshing } = await tokensOf(
    app,
    client,
    user,
    parameters,
    agent,
  );
  const { body } = await app.admin('GET', `/users/${user.id}/sessions`);
  return { client, user, agent, access, refreshing, sessionId: String(body.data.items?.[0]?.id) };
}

const admits = async (at: TestApp, token: string): Promise<number> =>
  (await call(at, 'GET', '/admin/api/users', { headers: bearer(token) })).status;

async function expectAlive({ access, refreshing }: Scene): Promise<void> {
  for (const at of [app, second]) {
    equal(await isActive(at, access), true);
    equal(await isActive(at, refreshing), true);
    equal((await userinfo(at, access)).status, 200);
    equal(await admits(at, access), 200);
  }
}

async function expectDead({ client, access, refreshing }: Scene): Promise<void> {
  for (const at of [second, app]) {
    equal(await isActive(at, access), false, 'access token');
    equal(await isActive(at, refreshing), false, 'refresh token');
    equal((await userinfo(at, access)).status, 401, 'userinfo');
    equal(await admits(at, access), 401, 'admin API');
    const own = await introspect(at, access, basic(client));
    ok(own.status === 401 || own.text === '{"active":false}', own.text);
    const again = await refresh(at, client, refreshing);
    ok(['invalid_grant', 'invalid_client'].includes(again.body.error ?? ''), JSON.stringify(again.body));
    equal(again.body.access_token, undefined);
  }
}

const authorize = (agent: Agent, client: Client) =>
  agent.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    prompt: 'none',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });

const silentError = async ({ agent, client }: Scene): Promise<string | null> =>
  new URL((await authorize(agent, client)).location ?? REDIRECT_URI).searchParams.get('error');

const done = async (answer: Promise<{ status: number }>): Promise<void> => {
  const { status } = await answer;
  ok(status === 200 || status === 204, String(status));
};

/** What happened -> whether the browser's session is over as well. */
const endings: Readonly<
  Record<string, readonly [isSessionOver: boolean, end: (scene: Scene) => Promise<void>]>
> = {
  'the refresh token was revoked': [
    false,
    ({ refreshing }) => done(postForm(app, '/oauth2/revoke', { token: refreshing })),
  ],
  'the person logged out': [true, ({ agent }) => done(agent.get('/oauth2/logout'))],
  'an administrator ended the session': [
    true,
    ({ sessionId }) => done(app.admin('DELETE', `/sessions/${sessionId}`)),
  ],
  'an administrator ended all sessions of the person': [
    true,
    ({ user }) => done(app.admin('POST', `/users/${user.id}/revoke-sessions`)),
  ],
  'the password was changed': [
    true,
    ({ user }) => done(app.admin('PUT', `/users/${user.id}`, { password: 'another battery staple' })),
  ],
  'the role was changed': [true, ({ user }) => done(app.admin('PUT', `/users/${user.id}`, { role: 'user' }))],
  'the person was deactivated': [true, ({ user }) => done(app.admin('POST', `/users/${user.id}/deactivate`))],
  'the person was deleted': [true, ({ user }) => done(app.admin('DELETE', `/users/${user.id}`))],
  'the application was deactivated': [
    true,
    ({ client }) => done(app.admin('PATCH', `/clients/${client.id}`, { is_active: false })),
  ],
  'the application was deleted': [true, ({ client }) => done(app.admin('DELETE', `/clients/${client.id}`))],
  'the grant is gone, whatever else is left (R048)': [
    false,
    async ({ user }) => {
      const grants = app.store.collection(protocol.grants);
      for (const { id } of await grants.findBy('account', user.id)) await grants.remove(id);
    },
  ],
  'the account is gone, whatever else is left (R048)': [
    true,
    async ({ user }) => void (await app.store.collection(model.accounts).remove(user.id)),
  ],
  'the account says that older sign-ins count no more, and a crash left the rest (R063)': [
    true,
    async ({ user }) => {
      const accounts = app.store.collection(model.accounts);
      const stored = await accounts.find(user.id);
      ok(stored !== undefined);
      const value = { ...stored.value, authenticatedNotBefore: Date.now() + 2000 };
      await accounts.replace(user.id, stored.version, value);
    },
  ],
  'the stored access token is gone, and the refresh token with its grant': [
    false,
    async ({ access, refreshing }) => {
      await app.store.ephemeral(protocol.accessTokens).remove(String(claimsOf(access).jti));
      await done(postForm(app, '/oauth2/revoke', { token: refreshing }));
    },
  ],
};

for (const [what, [isSessionOver, end]] of Object.entries(endings)) {
  test(`${what}: tokens are invalid at the next request in every process`, async () => {
    const before = await scene();
    await expectAlive(before);
    equal(await silentError(before), null);
    await end(before);
    await expectDead(before);
    if (what.startsWith('the application')) {
      const page = await authorize(before.agent, before.client);
      deepEqual([page.status, page.location], [400, undefined], 'nobody is sent to it');
      equal((await refresh(app, before.client, before.refreshing)).body.error, 'invalid_client');
    } else equal(await silentError(before), isSessionOver ? 'login_required' : null);
  });
}

test('user deactivated and reactivated: old tokens stay invalid', async () => {
  const before = await scene();
  await done(app.admin('POST', `/users/${before.user.id}/deactivate`));
  await done(app.admin('POST', `/users/${before.user.id}/reactivate`));
  await expectDead(before);
  ok((await tokensOf(app, before.client, before.user)).access_token);
});

test('user deleted and recreated under the same name: nothing is inherited (R062)', async () => {
  const before = await scene();
  await done(app.admin('DELETE', `/users/${before.user.id}`));
  const again = await app.createUser(before.user.username);
  await expectDead(before);
  equal(await silentError(before), 'login_required');
  const { body } = await app.admin('GET', `/users/${again.id}/sessions`);
  deepEqual(body.data.items, []);
  for (const definition of [protocol.grants, protocol.refreshTokens])
    deepEqual(await app.store.collection(definition).findBy('account', before.user.id), []);
  for (const definition of [protocol.accessTokens, protocol.authorizationCodes, protocol.oidcSessions])
    deepEqual(await app.store.ephemeral(definition).findBy('account', before.user.id), []);
});

test('unredeemed code: invalid once session, account or application ends', async () => {
  const ends: readonly ((scene: Scene) => Promise<void>)[] = [
    ({ agent }) => done(agent.get('/oauth2/logout')),
    ({ user }) => done(app.admin('POST', `/users/${user.id}/deactivate`)),
    ({ user }) => done(app.admin('DELETE', `/users/${user.id}`)),
    ({ user }) => done(app.admin('PATCH', `/users/${user.id}`, { password: 'another battery staple' })),
    ({ client }) => done(app.admin('DELETE', `/clients/${client.id}`)),
  ];
  for (const end of ends) {
    const before = await scene();
    const authorization = await before.agent.signIn(before.client.id, before.user);
    await end(before);
    const { status, body } = await redeem(app, before.client, authorization);
    ok(status >= 400 && body.access_token === undefined, JSON.stringify(body));
  }
});

/** As a crash leaves it: marked, and nothing else done yet. */
async function markOff({ id }: Client): Promise<void> {
  const clients = app.store.collection(model.clients);
  const stored = await clients.find(id);
  ok(stored !== undefined);
  await clients.replace(id, stored.version, { ...stored.value, isActive: false });
}

test('crash while deactivating a client: the job ends what remains (R048)', async () => {
  const before = await scene();
  await markOff(before.client);
  // At once: nothing new, and no claims. Introspection does not read the client (P12), so its turn comes with the job.
  app.advance(3_600_000);
  await app.app.jobs.tick();
  app.advance(-3_600_000);
  await expectDead(before);
});

test('client marked inactive only: its own tokens are invalid (R048)', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'admin',
  });
  const { body } = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'admin' });
  equal(await admits(second, body.access_token), 200);
  await markOff(machine);
  deepEqual([await isActive(app, body.access_token), await admits(second, body.access_token)], [false, 401]);
});

test('client credentials tokens: end when the client is deactivated or deleted', async () => {
  for (const end of ['deactivate', 'delete']) {
    const machine = await app.register({
      grant_types: ['client_credentials'],
      redirect_uris: [],
      scope: 'admin',
    });
    const { body } = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'admin' });
    equal(await admits(second, body.access_token), 200);
    if (end === 'delete') await done(app.admin('DELETE', `/clients/${machine.id}`));
    else await done(app.admin('PATCH', `/clients/${machine.id}`, { is_active: false }));
    for (const at of [second, app]) {
      equal(await isActive(at, body.access_token), false);
      equal(await admits(at, body.access_token), 401);
    }
    if (end === 'delete') continue;
    await done(app.admin('PATCH', `/clients/${machine.id}`, { is_active: true }));
    equal(await isActive(app, body.access_token), false, 'active again, the old token is not');
  }
});

test('tokens of other users, and of this user at other clients: unaffected', async () => {
  const [one, two] = [await scene(), await scene()];
  const beside = await tokensOf(app, two.client, one.user);
  await done(app.admin('DELETE', `/clients/${one.client.id}`));
  equal(await isActive(app, beside.access_token), true);
  await done(app.admin('DELETE', `/users/${two.user.id}`));
  equal(await isActive(app, beside.access_token), true);
});
