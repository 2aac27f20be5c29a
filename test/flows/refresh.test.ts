// Refresh tokens (RFC 9700 §4.14, decision 0007) of applications that rotate them (others: kept-refresh-tokens.test.ts): rotated at every use, bound to client and grant; reuse
// revokes the whole grant.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { refreshTokens } from '../../src/store/protocol-collections.ts';
import { Agent, refresh, requestTokens, type Tokens } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import {
  type Client,
  change,
  claimsOf,
  introspect,
  isActive,
  later,
  tokensOf,
  userinfo,
  withApp,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const ROTATES = { rotate_refresh_tokens: 'always' };
const client = await app.register(ROTATES);
const foreign = await app.register();
const alice = await app.createUser('alice');
const SCOPE = 'openid profile email';
const fresh = () => tokensOf(app, client, alice, { scope: SCOPE });

const withScope = (token: string, scope: string, by: Client = client): Promise<Tokens> =>
  requestTokens(app, by, { grant_type: 'refresh_token', refresh_token: token, scope });

function expectInvalidGrant({ status, body }: Tokens, what = ''): void {
  deepEqual([status, body.error, body.access_token], [400, 'invalid_grant', undefined], what);
}

test('refresh token: every use gives a new one, and the old access token stays valid', async () => {
  const first = await fresh();
  match(first.refresh_token, /^[\w-]{43}$/);
  const seen = new Set([first.refresh_token]);
  let current = first;
  for (let turn = 0; turn < 4; turn += 1) {
    const { status, body } = await refresh(app, client, current.refresh_token);
    equal(status, 200);
    ok(!seen.has(body.refresh_token));
    seen.add(body.refresh_token);
    deepEqual([body.scope, body.expires_in, body.token_type], [SCOPE, 900, 'Bearer']);
    current = body;
  }
  equal(await isActive(app, first.access_token), true);
  equal(await isActive(app, current.refresh_token), true);
});

test('refresh token: within the grace a used one gets the same successor', async () => {
  const first = await fresh();
  const answers = [
    await refresh(app, client, first.refresh_token),
    await refresh(app, client, first.refresh_token),
  ];
  answers.push(await later(9000, () => refresh(app, client, first.refresh_token)));
  for (const { status } of answers) equal(status, 200);
  const successors = new Set(answers.map(({ body }) => body.refresh_token));
  equal(successors.size, 1);
  const [successor = ''] = successors;
  equal(await isActive(app, successor), true);
  equal(
    await isActive(app, first.refresh_token),
    false,
    'the old one is only good for the grace of a refresh',
  );
  equal((await refresh(app, client, successor)).status, 200);
});

test('refresh token: within the grace, reuse after its successor was used revokes (R054)', async () => {
  const first = await fresh();
  const { body: second } = await refresh(app, client, first.refresh_token);
  const { body: third } = await refresh(app, client, second.refresh_token);
  // A thief's copy: the owner went on already, so this is no racing tab.
  expectInvalidGrant(await refresh(app, client, first.refresh_token));
  for (const token of [second.access_token, third.access_token, third.refresh_token])
    equal(await isActive(app, token), false);
  expectInvalidGrant(await refresh(app, client, third.refresh_token));
});

test('refresh token: reuse revokes the grant whatever scope is requested', async () => {
  const first = await fresh();
  const { body: second } = await refresh(app, client, first.refresh_token);
  await refresh(app, client, second.refresh_token);
  expectInvalidGrant(await withScope(first.refresh_token, 'made-up'));
  equal(await isActive(app, second.access_token), false);
});

test('refresh token: reuse after the grace revokes the grant', async () => {
  const first = await fresh();
  const { body: second } = await refresh(app, client, first.refresh_token);
  expectInvalidGrant(await later(11_000, () => refresh(app, client, first.refresh_token)));
  for (const token of [first.access_token, second.access_token, second.refresh_token])
    equal(await isActive(app, token), false);
  expectInvalidGrant(await refresh(app, client, second.refresh_token));
  equal((await userinfo(app, second.access_token)).status, 401);
});

async function withoutGrace(act: (own: TestApp, mine: Client) => Promise<void>): Promise<void> {
  await withApp({}, async (own) => {
    await change(own, { refresh_token_grace_seconds: 0 });
    await own.createUser('alice');
    await act(own, await own.register(ROTATES));
  });
}

test('refresh token: without grace an immediate replay revokes (keycloak #50999)', async () => {
  await withoutGrace(async (own, mine) => {
    const first = await tokensOf(own, mine, alice);
    const { body: second } = await refresh(own, mine, first.refresh_token);
    expectInvalidGrant(await refresh(own, mine, first.refresh_token));
    equal(await isActive(own, second.access_token), false);
    expectInvalidGrant(await refresh(own, mine, second.refresh_token));
  });
});

test('refresh token: a later replay of any earlier one ends the chain', async () => {
  await withoutGrace(async (own, mine) => {
    const first = await tokensOf(own, mine, alice);
    const { body: second } = await refresh(own, mine, first.refresh_token);
    const { body: third } = await refresh(own, mine, second.refresh_token);
    own.advance(3_600_000);
    expectInvalidGrant(await refresh(own, mine, first.refresh_token));
    expectInvalidGrant(await refresh(own, mine, third.refresh_token));
  });
});

test('refresh token: scope can shrink for one response and never grow', async () => {
  const first = await fresh();
  const { status, body } = await withScope(first.refresh_token, 'openid email');
  equal(status, 200);
  equal(body.scope, 'openid email');
  equal(claimsOf(body.access_token).scope, 'openid email');
  equal(claimsOf(body.id_token).name, undefined);
  equal((await userinfo(app, body.access_token)).body.name, undefined);
  for (const scope of ['phone', 'admin', 'offline_access', 'made-up']) {
    const refused = await withScope(body.refresh_token, scope);
    deepEqual([refused.status, refused.body.error], [400, 'invalid_scope'], scope);
  }
  // A refused request uses nothing up, and the token itself still has all that was granted (RFC 6749 §6).
  const again = await withScope(body.refresh_token, `${SCOPE} phone admin`);
  equal(again.body.scope, SCOPE, 'what was not granted is left out');
  equal((await withScope(again.body.refresh_token, 'email')).body.id_token, undefined);
});

test('attack: another client’s refresh token is refused and neither used up nor revoked', async () => {
  const first = await fresh();
  expectInvalidGrant(await refresh(app, foreign, first.refresh_token));
  const open = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
  expectInvalidGrant(await refresh(app, open, first.refresh_token));
  equal(await isActive(app, first.refresh_token), true);
  const { body } = await refresh(app, client, first.refresh_token);
  // A used one in the wrong hands is no reason to end the right owner's grant either.
  expectInvalidGrant(await later(11_000, () => refresh(app, foreign, first.refresh_token)));
  equal(await isActive(app, body.refresh_token), true);
});

test('attack: altered, truncated and unknown refresh tokens', async () => {
  const { refresh_token: token } = await fresh();
  const last = token.endsWith('A') ? 'B' : 'A';
  for (const wrong of [
    token.slice(1),
    token.slice(0, -1),
    `${token}A`,
    `${token.slice(0, -1)}${last}`,
    ` ${token}`,
    secretDigest(token),
    '../x',
    'x'.repeat(3000),
  ])
    expectInvalidGrant(await refresh(app, client, wrong), wrong.slice(0, 50));
  equal((await refresh(app, client, token)).status, 200);
});

test('refresh token: rotation extends the idle limit, never the absolute one', async () => {
  await withApp({}, async (own) => {
    await change(own, { refresh_token_idle_seconds: 1000, refresh_token_absolute_seconds: 2500 });
    const mine = await own.register(ROTATES);
    await own.createUser('alice');
    const first = await tokensOf(own, mine, alice);
    const start = Number((await introspect(own, first.refresh_token)).body.iat);
    const endOf = async (token: string): Promise<number> =>
      Number((await introspect(own, token)).body.exp) - start;
    ok(Math.abs((await endOf(first.refresh_token)) - 1000) <= 1);
    const second = (await later(900_000, () => refresh(own, mine, first.refresh_token))).body;
    const third = (await later(1_800_000, () => refresh(own, mine, second.refresh_token))).body;
    await later(1_800_000, async () => {
      ok(Math.abs((await endOf(third.refresh_token)) - 2500) <= 1, String(await endOf(third.refresh_token)));
    });
    expectInvalidGrant(await later(2_501_000, () => refresh(own, mine, third.refresh_token)));
    const idle = await tokensOf(own, mine, alice);
    expectInvalidGrant(await later(1_001_000, () => refresh(own, mine, idle.refresh_token)));
  });
});

const HOUR = 3_600_000;

test('refresh token: a browser application’s last 24 hours from the sign-in, however often used', async () => {
  const spa = await app.register({ token_endpoint_auth_method: 'none' });
  const native = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
  for (const scope of ['openid', 'openid offline_access']) {
    const [ofBrowser, ofNative] = [
      await tokensOf(app, spa, alice, { scope, prompt: 'consent' }),
      await tokensOf(app, native, alice, { scope, prompt: 'consent' }),
    ];
    const { body } = await later(20 * HOUR, () => refresh(app, spa, ofBrowser.refresh_token));
    const late = 24 * HOUR + 60_000;
    expectInvalidGrant(await later(late, () => refresh(app, spa, body.refresh_token)), scope);
    equal((await later(late, () => refresh(app, native, ofNative.refresh_token))).status, 200, scope);
  }
});

test('refresh token: how long a browser application’s last is a setting', async () => {
  await withApp({}, async (own) => {
    await change(own, { browser_refresh_token_seconds: 600 });
    await own.createUser('alice');
    const spa = await own.register({ token_endpoint_auth_method: 'none' });
    const server = await own.register();
    const [short, long] = [await tokensOf(own, spa, alice), await tokensOf(own, server, alice)];
    expectInvalidGrant(await later(601_000, () => refresh(own, spa, short.refresh_token)));
    equal((await later(601_000, () => refresh(own, server, long.refresh_token))).status, 200);
  });
});

test('refresh token: one from when they lasted longer is refused as expired', async () => {
  await withApp({}, async (own) => {
    await own.createUser('alice');
    const spa = await own.register({ token_endpoint_auth_method: 'none' });
    const { refresh_token } = await tokensOf(own, spa, alice);
    await change(own, { browser_refresh_token_seconds: 600 });
    expectInvalidGrant(await later(601_000, () => refresh(own, spa, refresh_token)));
    // It is neither used nor reused: with the old lifetime back it works.
    await change(own, { browser_refresh_token_seconds: 3600 });
    equal((await later(602_000, () => refresh(own, spa, refresh_token))).status, 200);
  });
});

test('refresh token: refused after deactivation, deletion, new password or role, sign-out', async () => {
  const ends: Readonly<Record<string, (id: string) => Promise<{ status: number }>>> = {
    deactivated: (id) => app.admin('POST', `/users/${id}/deactivate`),
    deleted: (id) => app.admin('DELETE', `/users/${id}`),
    password: (id) => app.admin('PATCH', `/users/${id}`, { password: 'another battery staple' }),
    role: (id) => app.admin('PATCH', `/users/${id}`, { role: 'admin' }),
    sessions: (id) => app.admin('POST', `/users/${id}/revoke-sessions`),
  };
  for (const [name, end] of Object.entries(ends)) {
    const user = await app.createUser(`user-${name}`);
    const tokens = await tokensOf(app, client, user, { scope: 'openid offline_access', prompt: 'consent' });
    ok([200, 204].includes((await end(user.id)).status), name);
    expectInvalidGrant(await refresh(app, client, tokens.refresh_token), name);
  }
});

test('refresh token: refused when the client lost the grant type or is deleted', async () => {
  const losing = await app.register();
  const tokens = await tokensOf(app, losing, alice);
  const patched = await app.admin('PATCH', `/clients/${losing.id}`, { grant_types: ['authorization_code'] });
  equal(patched.status, 200);
  const refused = await refresh(app, losing, tokens.refresh_token);
  deepEqual([refused.status, refused.body.error], [400, 'unauthorized_client']);
  equal((await app.admin('DELETE', `/clients/${losing.id}`)).status, 204);
  equal((await refresh(app, losing, tokens.refresh_token)).body.error, 'invalid_client');
});

test('refresh token: survives session expiry, not a logout', async () => {
  const [stays, leaves] = [new Agent(app), new Agent(app)];
  const kept = await tokensOf(app, client, alice, {}, stays);
  const ended = await tokensOf(app, client, alice, {}, leaves);
  await leaves.get('/oauth2/logout');
  expectInvalidGrant(await refresh(app, client, ended.refresh_token));
  const { status } = await later(4 * 3_600_000 + 1000, () => refresh(app, client, kept.refresh_token));
  equal(status, 200);
});

test('refresh token: stored as a digest, and never shared by two grants', async () => {
  const { refresh_token: token } = await fresh();
  const row = await app.store.collection(refreshTokens).find(secretDigest(token));
  ok(row !== undefined && !JSON.stringify(row).includes(token));
  notEqual((await fresh()).refresh_token, token);
});
