// Going round PKCE (RFC 9700 §4.8.2; decision 0008): by what is sent with a code, and by what an application
// says of itself.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { bearer, type Client, call, change, isActive, type Json } from '../flows/support.ts';
import { Agent, challengeOf, requestTokens, VERIFIER } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('alice');
const agent = new Agent(app);
const challenge = challengeOf(VERIFIER);
const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };

async function authorize(client: Client, fields: Record<string, string>): Promise<URLSearchParams> {
  const page = await agent.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    ...fields,
  });
  return (await agent.finish(page, { username: 'alice' })).searchParams;
}

const exchange = (client: Client, code: string, fields: Record<string, string>) =>
  requestTokens(app, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...fields,
  });

const confidential = await app.register();
const open = await app.register({ token_endpoint_auth_method: 'none' });

interface Mismatch {
  readonly asked: Record<string, string>;
  readonly sent: Record<string, string>;
  /** What would have been right. */
  readonly right: Record<string, string>;
  readonly clients: readonly Client[];
}

const mismatches: Readonly<Record<string, Mismatch>> = {
  'a verifier for a code without challenge': {
    asked: {},
    sent: { code_verifier: VERIFIER },
    right: {},
    clients: [confidential],
  },
  'no verifier for a code with challenge': {
    asked: pkce,
    sent: {},
    right: { code_verifier: VERIFIER },
    clients: [confidential, open],
  },
  'an empty verifier for a code with challenge': {
    asked: pkce,
    sent: { code_verifier: '' },
    right: { code_verifier: VERIFIER },
    clients: [confidential, open],
  },
  'the challenge itself as verifier (plain)': {
    asked: pkce,
    sent: { code_verifier: challenge },
    right: { code_verifier: VERIFIER },
    clients: [confidential, open],
  },
};

for (const [what, { asked, sent, right, clients }] of Object.entries(mismatches)) {
  test(`attack: ${what}; refused and the code is spent (R024)`, async () => {
    for (const client of clients) {
      const before = (await authorize(client, asked)).get('code') ?? '';
      const tokens = await exchange(client, before, right);
      equal(tokens.status, 200, JSON.stringify(tokens.body));
      const code = (await authorize(client, asked)).get('code') ?? '';
      for (const fields of [sent, right]) {
        const { status, body } = await exchange(client, code, fields);
        deepEqual([status, body.error, body.access_token], [400, 'invalid_grant', undefined]);
      }
      // Whoever has a stolen code ends that sign-in, and nothing else of the person.
      equal(await isActive(app, tokens.body.access_token), true);
    }
  });
}

test('attack: another client sends a code without its verifier; the code stays its owner’s', async () => {
  const code = (await authorize(open, pkce)).get('code') ?? '';
  equal((await exchange(confidential, code, {})).body.error, 'invalid_grant');
  equal((await exchange(open, code, { code_verifier: VERIFIER })).status, 200);
});

const always: Readonly<Record<string, Record<string, unknown>>> = {
  public: { token_endpoint_auth_method: 'none' },
  native: { application_type: 'native', redirect_uris: ['http://localhost/'] },
  'custom scheme': { application_type: 'native', redirect_uris: ['com.example.app:/callback'] },
  'a page by its web_origins': { web_origins: ['https://app.example'] },
  'admin scope': { scope: 'openid admin' },
  'admin:read scope': { scope: 'openid admin:read' },
};
const plainWeb = { client_name: 'Web', redirect_uris: [REDIRECT_URI] };

for (const [kind, metadata] of Object.entries(always)) {
  test(`attack: require_pkce false for an application that is ${kind}, at creation, PUT and PATCH`, async () => {
    const without = { ...plainWeb, ...metadata, require_pkce: false };
    const made = await app.admin('POST', '/clients', { ...plainWeb, ...metadata });
    const path = `/clients/${made.body.data.client_id}`;
    const other = await app.admin('POST', '/clients', plainWeb);
    const answers = [
      await app.admin('POST', '/clients', without),
      await app.admin('PUT', path, without),
      await app.admin('PATCH', path, { require_pkce: false }),
      // Becoming one, in the same request.
      await app.admin('PATCH', `/clients/${other.body.data.client_id}`, { ...metadata, require_pkce: false }),
    ];
    for (const { status, body } of answers) {
      equal(status, 400, JSON.stringify(body));
      match(body.error?.fields?.require_pkce ?? '', /^Must be true: it /);
    }
    equal((await app.admin('GET', path)).body.data.require_pkce, true);
    const became = await app.admin('PATCH', `/clients/${other.body.data.client_id}`, metadata);
    equal(became.body.data.require_pkce, true);
  });
}

const json = (token: string, body: object): RequestInit => ({
  headers: { ...bearer(token), 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const manage = (made: Json, method: string, body: object) => {
  const { pathname } = new URL(String(made.registration_client_uri));
  return call(app, method, pathname, json(String(made.registration_access_token), body));
};

test('attack: a stranger registers without PKCE, or a registrant gives it up by PUT', async () => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'test', uses: 1 });
  const token = String(body.data.token);
  const wanted = { ...plainWeb, scope: 'openid' };
  for (const value of [false, 'no', 0]) {
    const refused = await call(
      app,
      'POST',
      '/oauth2/register',
      json(token, { ...wanted, require_pkce: value }),
    );
    deepEqual([refused.status, refused.body.error], [400, 'invalid_client_metadata'], refused.text);
  }
  // Nor by naming itself old, which only the token can say.
  await change(app, { legacy_profiles: true });
  const old = await call(app, 'POST', '/oauth2/register', json(token, { ...wanted, profile: 'legacy' }));
  equal(old.status, 400, old.text);
  await change(app, { legacy_profiles: false });
  const made = await call(app, 'POST', '/oauth2/register', json(token, { ...wanted, require_pkce: true }));
  equal(made.status, 201, made.text);
  const own = { ...wanted, client_id: made.body.client_id };
  equal((await manage(made.body, 'PUT', { ...own, require_pkce: false })).status, 400);
  const kept = await manage(made.body, 'PUT', own);
  deepEqual([kept.status, kept.body.require_pkce], [200, true], kept.text);
});

test('attack: a registrant gives up what an administrator required', async () => {
  const made = await call(
    app,
    'POST',
    '/oauth2/register',
    json(ADMIN_TOKEN, { ...plainWeb, require_pkce: true }),
  );
  deepEqual([made.status, made.body.require_pkce], [201, true], made.text);
  const client = { id: String(made.body.client_id), secret: String(made.body.client_secret) };
  const own = { ...plainWeb, client_id: client.id };
  equal((await manage(made.body, 'PUT', { ...own, require_pkce: false })).status, 400);
  equal((await manage(made.body, 'PUT', own)).status, 200);
  equal((await authorize(client, {})).get('error'), 'invalid_request');

  // One that may go without may ask for it; from then on it is an administrator's to give up.
  const lax = await call(app, 'POST', '/oauth2/register', json(ADMIN_TOKEN, plainWeb));
  const lost = { ...plainWeb, client_id: lax.body.client_id };
  deepEqual((await manage(lax.body, 'PUT', { ...lost, require_pkce: false })).body.require_pkce, false);
  deepEqual((await manage(lax.body, 'PUT', { ...lost, require_pkce: true })).body.require_pkce, true);
  equal((await manage(lax.body, 'PUT', { ...lost, require_pkce: false })).status, 400);
  const given = await app.admin('PATCH', `/clients/${lax.body.client_id}`, { require_pkce: false });
  deepEqual([given.status, given.body.data.require_pkce], [200, false]);
  ok(Object.hasOwn(given.body.data, 'require_pkce'));
});
