// Whose refresh tokens are rotated (decision 0007; RFC 9700 §4.14.2; FAPI 2.0 Security Profile §5.3.2.1). The hook `rotateRefreshToken` of
// the library (lib/actions/grants/refresh_token.js) stands after its checks of client, expiry, binding, scope, account and reuse: where
// it says no the same record goes on, so `rotations`, `gty` and the token's own `scope` stay, the answer repeats the value that was sent,
// and nothing extends its end: the idle end and a new JWT (`keycloak_tokens`) are ours.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { type ClientRecord, clients } from '../../src/store/collections.ts';
import { refreshTokens } from '../../src/store/protocol-collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent, refresh } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type ProofKey, proofKey, proofOf } from '../support/dpop.ts';
import { basic, type Client, claimsOf, introspect, isActive, later, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const DAY = 86_400;
const key = await proofKey();

async function asked(client: Client, fields: Record<string, string>, by?: ProofKey) {
  const proof = by && { DPoP: await proofOf(by, 'POST', `${app.url}/oauth2/token`) };
  const named = client.secret === '' ? { client_id: client.id } : {};
  const headers = { ...(client.secret !== '' && basic(client)), ...proof };
  const { status, body, text } = await postForm(app, '/oauth2/token', { ...fields, ...named }, headers);
  equal(status, 200, text);
  return String(body.refresh_token);
}

/** By a code, with a proof by a key or without. */
async function first(client: Client, by?: ProofKey): Promise<string> {
  const { code, verifier } = await new Agent(app).signIn(client.id, alice);
  const fields = { grant_type: 'authorization_code', code, code_verifier: verifier };
  return asked(client, { ...fields, redirect_uri: REDIRECT_URI }, by);
}

const PUBLIC = { token_endpoint_auth_method: 'none' };
const NATIVE = { application_type: 'native' };
const ORIGINS = { web_origins: ['https://scripts.example'] };
const BOUND = { dpop_bound_access_tokens: true };
const rotate = (how: string) => ({ rotate_refresh_tokens: how });
/** As a version stored them that knew no other. */
const before = (value: ClientRecord): ClientRecord => {
  const { rotateRefreshTokens: _, ...old } = value;
  return old;
};
const fapi = ({ metadata, ...others }: ClientRecord): ClientRecord =>
  before({ ...others, metadata: { ...metadata, require_pushed_authorization_requests: true } });

interface Kind {
  readonly is: object;
  readonly by?: ProofKey;
  readonly stored?: (value: ClientRecord) => ClientRecord;
  readonly shown?: string;
  readonly isRotated: boolean;
}

const kinds: Readonly<Record<string, Kind>> = {
  'a server application': { is: {}, isRotated: false },
  'a public one': { is: PUBLIC, isRotated: true },
  'a public one, bound to a key': { is: PUBLIC, by: key, isRotated: false },
  'a native one with a secret': { is: NATIVE, isRotated: true },
  'a native public one': { is: { ...PUBLIC, ...NATIVE }, isRotated: true },
  'one with web_origins': { is: ORIGINS, isRotated: true },
  'one that says always': { is: rotate('always'), shown: 'always', isRotated: true },
  'a bound one that says always': {
    is: { ...PUBLIC, ...rotate('always') },
    by: key,
    shown: 'always',
    isRotated: true,
  },
  'one with web_origins that says never': {
    is: { ...ORIGINS, ...rotate('never') },
    shown: 'never',
    isRotated: false,
  },
  'one of before': { is: {}, stored: before, shown: 'always', isRotated: true },
  'one of before of FAPI 2.0': { is: BOUND, by: key, stored: fapi, isRotated: false },
};

for (const [what, { is, by, stored, shown = 'auto', isRotated }] of Object.entries(kinds)) {
  test(`refresh tokens of ${what} are ${isRotated ? 'rotated' : 'kept'}`, async () => {
    const client = await app.register({ ...is });
    const token = await first(client, by);
    if (stored) await update(app.store.collection(clients), client.id, (value) => ({ value: stored(value) }));
    const { body } = await app.admin('GET', `/clients/${client.id}`);
    equal(body.data.rotate_refresh_tokens, shown);
    const next = await asked(client, { grant_type: 'refresh_token', refresh_token: token }, by);
    equal(next !== token, isRotated);
  });
}

test('a kept refresh token: an answer lost on the way, a race and a replay end nothing', async () => {
  const client = await app.register();
  const token = await first(client);
  const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(app, client, token)));
  for (const { status, body } of answers) deepEqual([status, body.refresh_token], [200, token]);
  const late = await later(3_600_000, () => refresh(app, client, token));
  deepEqual([late.status, late.body.refresh_token], [200, token]);
  for (const { body } of answers) ok(await isActive(app, body.access_token));
  // It is the application's alone, as ever.
  equal((await refresh(app, await app.register(), token)).body.error, 'invalid_grant');
  await postForm(app, '/oauth2/revoke', { token });
  equal((await refresh(app, client, token)).body.error, 'invalid_grant');
});

test('a kept refresh token: use extends its idle end, written once a day', async () => {
  const client = await app.register();
  const token = await first(client);
  const row = async () => app.store.collection(refreshTokens).find(secretDigest(token));
  const { iat } = (await introspect(app, token)).body;
  const at = async (days: number) => {
    await later(days * DAY * 1000, async () => equal((await refresh(app, client, token)).status, 200));
    const { version, expiresAt = 0, value } = (await row()) ?? {};
    ok(Math.abs(Number(value?.exp) - expiresAt / 1000) <= 2);
    return [version, Math.round((Number(value?.exp) - Number(iat)) / DAY)];
  };
  deepEqual(await at(0), [1, 30]);
  deepEqual(await at(0.9), [1, 30]);
  deepEqual(await at(1.1), [2, 31]);
  deepEqual(await at(1.9), [2, 31]);
  deepEqual(await at(25), [3, 55]);
  for (let days = 50; days <= 350; days += 25) await at(days);
  equal((await at(364))[1], 365);
  const after = await later(366 * DAY * 1000, () => refresh(app, client, token));
  equal(after.body.error, 'invalid_grant');
});

test('a kept refresh token of keycloak_tokens: signed anew with its new end, the same jti', async () => {
  const client = await app.register({ keycloak_tokens: true });
  const token = await first(client);
  const again = (await refresh(app, client, token)).body.refresh_token;
  const { body } = await later(2 * DAY * 1000, () => refresh(app, client, token));
  const [before, after] = [claimsOf(again), claimsOf(body.refresh_token)];
  equal(after.jti, before.jti);
  ok(Number(after.exp) - Number(before.exp) > DAY);
  equal((await refresh(app, client, body.refresh_token)).status, 200);
  // Turned on or off meanwhile: the next one has the form that the application reads.
  const plain = await app.register();
  const opaque = await first(plain);
  await app.admin('PATCH', `/clients/${plain.id}`, { keycloak_tokens: true });
  const next = (await refresh(app, plain, opaque)).body.refresh_token;
  equal(claimsOf(next).azp, plain.id);
});

test('never needs a credential, and becoming public ends the tokens', async () => {
  const refused = await app.admin('POST', '/clients', {
    client_name: 'Test',
    redirect_uris: [REDIRECT_URI],
    ...PUBLIC,
    rotate_refresh_tokens: 'never',
  });
  deepEqual(
    [refused.status, Object.keys(refused.body.error?.fields ?? {})],
    [400, ['rotate_refresh_tokens']],
  );
  await app.register({ ...PUBLIC, ...BOUND, rotate_refresh_tokens: 'never' });
  const client = await app.register({ rotate_refresh_tokens: 'never' });
  const token = await first(client);
  const patch = (members: object) => app.admin('PATCH', `/clients/${client.id}`, members);
  equal((await patch(PUBLIC)).status, 400);
  equal((await patch({ ...PUBLIC, rotate_refresh_tokens: 'auto' })).status, 200);
  equal(await isActive(app, token), false);
  equal((await refresh(app, { ...client, secret: '' }, token)).body.error, 'invalid_grant');
});

test('one rotated a moment ago: rotation turned off within the grace gives its successor', async () => {
  const client = await app.register({ rotate_refresh_tokens: 'always' });
  const token = await first(client);
  const second = (await refresh(app, client, token)).body.refresh_token;
  notEqual(second, token);
  await app.admin('PATCH', `/clients/${client.id}`, { rotate_refresh_tokens: 'never' });
  equal((await refresh(app, client, token)).body.refresh_token, second);
  equal((await refresh(app, client, second)).body.refresh_token, second);
  // And of what was used before the replay still ends the grant.
  const late = await later(11_000, () => refresh(app, client, token));
  equal(late.body.error, 'invalid_grant');
  equal(await isActive(app, second), false);
});

test('signing out with the refresh token of a moment ago ends the grant, and is no reuse', async () => {
  const client = await app.register({ rotate_refresh_tokens: 'always' });
  const token = await first(client);
  const { body } = await refresh(app, client, token);
  const out = await postForm(app, '/oauth2/logout', { refresh_token: token }, basic(client));
  equal(out.status, 204);
  equal(await isActive(app, body.refresh_token), false);
  const { body: audit } = await app.admin('GET', `/audit?event=token.reused&client_id=${client.id}`);
  deepEqual(audit.data.items, []);
});
