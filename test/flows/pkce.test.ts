// PKCE (RFC 7636, RFC 9700 §2.1.1 and §4.8; decision 0008): S256 alone; required by kind of client, by
// application, by the setting. Attacks on it: attacks/pkce-downgrade.test.ts, attacks/pkce-ratchet.test.ts.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, requestTokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { bearer, type Client, call, change, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const confidential = await app.register();
const strict = await app.register({ require_pkce: true });
const open = await app.register({ token_endpoint_auth_method: 'none' });
const alice = await app.createUser('alice');
const agent = new Agent(app);
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

type Fields = Record<string, string | undefined>;

/** @returns the answer's parameters */
async function authorize(client: Client, pkce: Fields, browser = agent): Promise<URLSearchParams> {
  const page = await browser.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    ...pkce,
  });
  ok(page.status === 303 || page.status === 200, page.body);
  return (await browser.finish(page, { username: 'alice' })).searchParams;
}

const exchange = (client: Client, code: string, fields: Record<string, string>) =>
  requestTokens(app, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...fields,
  });

test('PKCE: the example of RFC 7636', async () => {
  equal(challengeOf(VERIFIER), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  const answer = await authorize(open, {
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const { status, body } = await exchange(open, answer.get('code') ?? '', { code_verifier: VERIFIER });
  equal(status, 200, JSON.stringify(body));
  equal(alice.username, 'alice');
});

const challenge = challengeOf(VERIFIER);
const without: readonly Fields[] = [{}, { code_challenge: '' }];
const badRequests: readonly Fields[] = [
  { code_challenge_method: 'S256' },
  { code_challenge: challenge },
  { code_challenge: challenge, code_challenge_method: 'plain' },
  { code_challenge: challenge, code_challenge_method: 's256' },
  { code_challenge: challenge, code_challenge_method: 'S512' },
  { code_challenge: challenge, code_challenge_method: 'none' },
  { code_challenge: challenge.slice(1), code_challenge_method: 'S256' },
  { code_challenge: 'short', code_challenge_method: 'S256' },
  { code_challenge: 'a'.repeat(129), code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}=`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}+`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}é`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge} `, code_challenge_method: 'S256' },
];

const required: Readonly<Record<string, Record<string, unknown>>> = {
  'a public client': { token_endpoint_auth_method: 'none' },
  'a native client with a secret': {
    application_type: 'native',
    redirect_uris: [REDIRECT_URI, 'http://localhost/'],
  },
  'a client with a custom-scheme redirect': {
    application_type: 'native',
    redirect_uris: [REDIRECT_URI, 'com.example.app:/callback'],
  },
  'a client with an admin scope': { scope: 'openid admin:read' },
  'a client that requires it': { require_pkce: true },
};

for (const [kind, metadata] of Object.entries(required)) {
  test(`PKCE: ${kind} gets no code without a challenge, and shows require_pkce`, async () => {
    const client = await app.register(metadata);
    for (const pkce of without) {
      const answer = await authorize(client, pkce);
      deepEqual([answer.get('error'), answer.get('code')], ['invalid_request', null], JSON.stringify(pkce));
      match(answer.get('error_description') ?? '', /PKCE/);
    }
    equal((await app.admin('GET', `/clients/${client.id}`)).body.data.require_pkce, true);
  });
}

test('PKCE: a self-registered client gets no code without a challenge', async () => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'test', uses: 1 });
  const made = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(body.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], scope: 'openid' }),
  });
  deepEqual([made.status, made.body.require_pkce], [201, true], made.text);
  const client = { id: String(made.body.client_id), secret: String(made.body.client_secret) };
  equal((await authorize(client, {})).get('error'), 'invalid_request');
});

test('PKCE: a self-registered client of the legacy profile may do without, while that is on', async () => {
  await change(app, { legacy_profiles: true });
  const { body } = await app.admin('POST', '/initial-access-tokens', {
    label: 'old programs',
    uses: 3,
    profile: 'legacy',
  });
  const register = async (more: object = {}) => {
    const made = await call(app, 'POST', '/oauth2/register', {
      headers: { ...bearer(String(body.data.token)), 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], scope: 'openid', ...more }),
    });
    equal(made.status, 201, made.text);
    const { client_id: id, client_secret: secret = '', require_pkce } = made.body;
    return { client: { id: String(id), secret: String(secret) }, require_pkce };
  };
  const { client, require_pkce } = await register();
  equal(require_pkce, false);
  const code = (await authorize(client, {})).get('code') ?? '';
  equal((await exchange(client, code, {})).status, 200);
  const isRefused = async (one: Client) => (await authorize(one, {})).get('error') === 'invalid_request';
  // A public one has nothing else to guard its codes, and an application may ask for more.
  for (const more of [{ token_endpoint_auth_method: 'none' }, { require_pkce: true }]) {
    const other = await register(more);
    deepEqual([other.require_pkce, await isRefused(other.client)], [true, true]);
  }
  const path = `/clients/${client.id}`;
  equal((await app.admin('PATCH', path, { profile: null })).body.data.require_pkce, true);
  ok(await isRefused(client));
  equal((await app.admin('PATCH', path, { profile: 'legacy' })).body.data.require_pkce, false);
  await change(app, { legacy_profiles: false });
  ok(await isRefused(client));
});

for (const [kind, client] of Object.entries({
  confidential,
  'confidential (required)': strict,
  public: open,
})) {
  test(`PKCE: a ${kind} client with an invalid challenge gets no code (R023)`, async () => {
    for (const pkce of badRequests) {
      const answer = await authorize(client, pkce);
      deepEqual([answer.get('error'), answer.get('code')], ['invalid_request', null], JSON.stringify(pkce));
      match(answer.get('error_description') ?? '', /PKCE|code_challenge/);
    }
  });
}

const wrongVerifiers: readonly (readonly [string, string])[] = [
  ['a wrong one', VERIFIER.replace('d', 'e')],
  ['one cut short', VERIFIER.slice(0, 42)],
  ['one with more at its end', `${VERIFIER}A`],
  ['one that is too long', 'a'.repeat(129)],
  ['one with a foreign character', `${VERIFIER.slice(0, -1)}!`],
  ['one in another case', VERIFIER.toUpperCase()],
];

for (const [what, verifier] of wrongVerifiers) {
  test(`PKCE: ${what} as verifier is invalid_grant, and the code stays valid (R026)`, async () => {
    for (const client of [confidential, open]) {
      const answer = await authorize(client, { code_challenge: challenge, code_challenge_method: 'S256' });
      const code = answer.get('code') ?? '';
      const refused = await exchange(client, code, { code_verifier: verifier });
      deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
      equal((await exchange(client, code, { code_verifier: VERIFIER })).status, 200);
    }
  });
}

test('PKCE: a confidential client may go without, by default', async () => {
  const code = (await authorize(confidential, {})).get('code') ?? '';
  equal((await exchange(confidential, code, {})).status, 200);
  equal((await app.admin('GET', `/clients/${confidential.id}`)).body.data.require_pkce, false);
});

test('PKCE, setting require_pkce: of every client, whatever the application says', async () => {
  await withApp({}, async (strictApp) => {
    const client = await strictApp.register({ require_pkce: false });
    await strictApp.createUser('alice');
    const browser = new Agent(strictApp);
    ok((await authorize(client, {}, browser)).get('code'));
    await change(strictApp, { require_pkce: true });
    equal((await authorize(client, {}, browser)).get('error'), 'invalid_request');
    await change(strictApp, { require_pkce: false });
    ok((await authorize(client, {}, browser)).get('code'));
  });
});
