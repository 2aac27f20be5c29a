// Client authentication (RFC 6749 §2.3, OAuth 2.1 §2.4, RFC 7523): by the registered method, at every
// endpoint that requires it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import test, { after } from 'node:test';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Answer, basic, type Client, call, epoch, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const machine = {
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [REDIRECT_URI],
};
const keys = await generateKeyPair('RS256', { extractable: true });
const stranger = await generateKeyPair('RS256');
const foreignJwk = { ...(await exportJWK(stranger.publicKey)), kid: 'k', alg: 'RS256' };
const publicPem = await exportSPKI(keys.publicKey);

const clients = {
  // Said, not left to the default: what an application chose is what it must use.
  client_secret_basic: await app.register({ ...machine, token_endpoint_auth_method: 'client_secret_basic' }),
  client_secret_post: await app.register({ ...machine, token_endpoint_auth_method: 'client_secret_post' }),
  private_key_jwt: await app.register({
    ...machine,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] },
  }),
  none: await app.register({
    ...machine,
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  }),
} as const;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

interface AssertionOptions {
  readonly key?: CryptoKey;
  readonly header?: Record<string, unknown>;
  readonly claims?: JWTPayload;
}

function assertion(
  client: Client,
  { key = keys.privateKey, header = {}, claims = {} }: AssertionOptions = {},
) {
  const payload = {
    iss: client.id,
    sub: client.id,
    aud: app.issuer,
    jti: randomUUID(),
    iat: epoch(),
    exp: epoch() + 60,
    ...claims,
  };
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'k', ...header }).sign(key);
}

type Proof = { fields?: Record<string, string>; headers?: Record<string, string> };

/** One client's credentials, presented in each way that there is. */
const ways: Readonly<Record<keyof typeof clients, (client: Client) => Promise<Proof>>> = {
  client_secret_basic: async (client) => ({ headers: basic(client) }),
  client_secret_post: async ({ id, secret }) => ({ fields: { client_id: id, client_secret: secret } }),
  private_key_jwt: async (client) => ({
    fields: { client_assertion_type: ASSERTION_TYPE, client_assertion: await assertion(client) },
  }),
  none: async ({ id }) => ({ fields: { client_id: id } }),
};

const places: Readonly<Record<string, Record<string, string>>> = {
  '/oauth2/token': { grant_type: 'client_credentials' },
  '/oauth2/introspect': { token: 'x' },
  '/oauth2/par': {
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  },
};

const present = async (path: string, proof: Proof): Promise<Answer> =>
  postForm(app, path, { ...places[path], ...proof.fields }, proof.headers);

function expectRefusal({ status, body, headers }: Answer, what: string): void {
  deepEqual([status, body.error], [401, 'invalid_client'], what);
  ok(!('access_token' in body) && !('active' in body) && !('request_uri' in body));
  equal(headers.get('cache-control'), 'no-store');
}

for (const [method, client] of Object.entries(clients)) {
  for (const [way, prove] of Object.entries(ways)) {
    const isRight = way === method;
    test(`client of ${method} presented as ${way}: ${isRight ? 'accepted' : 'refused'} everywhere (R038)`, async () => {
      for (const path of Object.keys(places)) {
        // A secret is needed to present one; a client without any tries a made-up one.
        const proof = await prove(client.secret === '' ? { ...client, secret: 'made-up' } : client);
        const named = { ...proof, fields: { client_id: client.id, ...proof.fields } };
        const answer = await present(path, path === '/oauth2/par' ? named : proof);
        if (!isRight) expectRefusal(answer, path);
        else if (method === 'none' && path === '/oauth2/token')
          equal(answer.body.error, 'unauthorized_client');
        else if (method === 'none' && path === '/oauth2/introspect') expectRefusal(answer, path);
        else ok([200, 201].includes(answer.status), `${path} ${answer.text}`);
      }
    });
  }
}

test('client without a registered method: may send its secret in header or form', async () => {
  const client = await app.register(machine);
  const { client_secret_basic: header, client_secret_post: form } = ways;
  for (const prove of [header, form])
    equal((await present('/oauth2/token', await prove(client))).status, 200);
  expectRefusal(await present('/oauth2/token', await ways.none(client)), 'none');
  const said = await app.admin('PATCH', `/clients/${client.id}`, {
    token_endpoint_auth_method: 'client_secret_post',
  });
  equal(said.status, 200);
  expectRefusal(await present('/oauth2/token', await header(client)), 'said since');
  equal((await present('/oauth2/token', await form(client))).status, 200);
});

test('client authentication missing: 401 with a challenge; introspection also names bearer', async () => {
  for (const path of Object.keys(places)) {
    const answer = await present(path, {});
    expectRefusal(answer, path);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    equal(challenge.includes('Bearer'), path === '/oauth2/introspect', challenge);
    match(challenge, /Basic realm="/);
    equal(/bearer/.test(String(answer.body.error_description)), path === '/oauth2/introspect');
  }
});

test('client authentication by two methods at once: refused even if both are valid', async () => {
  const client = clients.client_secret_basic;
  for (const path of Object.keys(places)) {
    const both = [
      { headers: basic(client), fields: { client_id: client.id, client_secret: client.secret } },
      {
        headers: basic(client),
        fields: { client_assertion_type: ASSERTION_TYPE, client_assertion: await assertion(client) },
      },
      {
        fields: {
          client_id: client.id,
          client_secret: client.secret,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await assertion(client),
        },
      },
      { headers: basic(client), fields: { client_id: clients.client_secret_post.id } },
    ];
    for (const proof of both) {
      const { status, body } = await present(path, proof);
      deepEqual([status, body.error], [400, 'invalid_request'], path);
    }
  }
});

test('credentials in the query: ignored', async () => {
  const { id, secret } = clients.client_secret_post;
  const query = new URLSearchParams({ client_id: id, client_secret: secret, ...places['/oauth2/token'] });
  const answer = await call(app, 'POST', `/oauth2/token?${query}`, {
    body: new URLSearchParams(places['/oauth2/token']),
  });
  ok([400, 401].includes(answer.status));
  ok(!('access_token' in answer.body));
});

test('attack: wrong, missing, truncated and foreign secrets get one answer', async () => {
  const client = clients.client_secret_basic;
  const { secret } = client;
  const changed = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
  const answers = new Set<string>();
  const foreign = clients.client_secret_post.secret;
  for (const wrong of [
    'x',
    changed,
    secret.slice(1),
    `${secret}x`,
    foreign,
    secret.toLowerCase(),
    ' ',
    'stored-as-a-digest',
  ]) {
    const answer = await present('/oauth2/token', { headers: basic({ ...client, secret: wrong }) });
    expectRefusal(answer, wrong);
    match(answer.headers.get('www-authenticate') ?? '', /^Basic realm="/);
    answers.add(answer.text);
  }
  expectRefusal(
    await present('/oauth2/token', { headers: basic({ id: 'nobody', secret }) }),
    'unknown client',
  );
  equal(answers.size, 1);
  const malformed = [
    'Basic',
    'Basic !!!',
    `Basic ${Buffer.from('no colon').toString('base64')}`,
    'Basic Og==',
    'Digest x',
    'Bearer x',
  ];
  for (const authorization of malformed) {
    const { status, body } = await present('/oauth2/token', { headers: { authorization } });
    ok([400, 401].includes(status) && !('access_token' in body), authorization);
  }
});

test('rotated client secret: the new one works, the old one only for its overlap', async () => {
  const client = await app.register(machine);
  const rotate = async (body: object): Promise<string> => {
    const answer = await app.admin('POST', `/clients/${client.id}/rotate-secret`, body);
    equal(answer.status, 200, JSON.stringify(answer.body));
    return String(answer.body.data.client_secret);
  };
  const isGood = async (secret: string): Promise<boolean> =>
    (await present('/oauth2/token', { headers: basic({ ...client, secret }) })).status === 200;
  const second = await rotate({});
  deepEqual([await isGood(client.secret), await isGood(second)], [false, true]);
});

const half = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const { private_key_jwt: signer } = clients;
const now = epoch();
const claims = { iss: signer.id, sub: signer.id, aud: app.issuer, jti: 'x', iat: now, exp: now + 60 };

const forgeries: Readonly<Record<string, () => Promise<string>>> = {
  'another key': () => assertion(signer, { key: stranger.privateKey }),
  'another key, brought along as jwk': () =>
    assertion(signer, { key: stranger.privateKey, header: { jwk: foreignJwk } }),
  'another key, pointed at by jku': () =>
    assertion(signer, { key: stranger.privateKey, header: { jku: 'https://evil.example/jwks.json' } }),
  'alg none': async () => `${half({ alg: 'none', kid: 'k' })}.${half(claims)}.`,
  'HS256 with the public key': async () => {
    const input = `${half({ alg: 'HS256', kid: 'k' })}.${half(claims)}`;
    return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`;
  },
  'no signature': async () => (await assertion(signer)).replace(/[^.]+$/, ''),
  'another audience': () => assertion(signer, { claims: { aud: 'https://evil.example' } }),
  'another server beside us as audience': () =>
    assertion(signer, { claims: { aud: [app.issuer, 'https://evil.example'] } }),
  'a nested list as audience': () =>
    assertion(signer, { claims: JSON.parse(JSON.stringify({ aud: [app.issuer, [app.issuer]] })) }),
  'another of our endpoints as audience': () =>
    assertion(signer, { claims: { aud: `${app.issuer}/introspect` } }),
  'no audience': () => assertion(signer, { claims: { aud: [] } }),
  expired: () => assertion(signer, { claims: { exp: now - 60 } }),
  'not yet valid': () => assertion(signer, { claims: { nbf: now + 600 } }),
  'another issuer': () => assertion(signer, { claims: { iss: 'other' } }),
  'another subject': () => assertion(signer, { claims: { sub: clients.client_secret_basic.id } }),
  'living for a day': () => assertion(signer, { claims: { exp: now + 86_400 } }),
};

for (const [what, forge] of Object.entries(forgeries)) {
  test(`attack: client assertion with ${what} (R040)`, async () => {
    const proof = { fields: { client_assertion_type: ASSERTION_TYPE, client_assertion: await forge() } };
    expectRefusal(await present('/oauth2/token', proof), what);
  });
}

test('client assertion: for issuer or token endpoint, alone or in a list (R040)', async () => {
  for (const aud of [app.issuer, `${app.issuer}/token`, [app.issuer], [app.issuer, `${app.issuer}/token`]]) {
    const client_assertion = await assertion(signer, { claims: { aud } });
    const fields = { client_assertion_type: ASSERTION_TYPE, client_assertion };
    equal((await present('/oauth2/token', { fields })).status, 200, String(aud));
  }
});

test("attack: client assertion for another server's idea of our token endpoint (FAPI 2.0)", async () => {
  const fapi = await app.register({
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] },
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
  });
  const push = async (more: JWTPayload) => {
    const client_assertion = await assertion(fapi, { claims: more });
    const request = { ...codeRequest(fapi.id), client_assertion_type: ASSERTION_TYPE, client_assertion };
    return (await postForm(app, '/oauth2/par', request)).status;
  };
  for (const aud of [
    `${app.issuer}/token`,
    `${app.issuer}/par`,
    [app.issuer],
    [app.issuer, `${app.issuer}/token`],
  ])
    equal(await push({ aud }), 401, String(aud));
  equal(await push({ aud: app.issuer }), 201);
});

test('client assertion: of a clock 8 s ahead taken, of one a minute ahead not (FAPI 2.0)', async () => {
  for (const [ahead, status] of [
    [8, 200],
    [65, 401],
  ] as const) {
    const at = epoch() + ahead;
    const client_assertion = await assertion(signer, { claims: { iat: at, nbf: at, exp: at + 60 } });
    const fields = { client_assertion_type: ASSERTION_TYPE, client_assertion };
    equal((await present('/oauth2/token', { fields })).status, status, `${ahead} s`);
  }
});

test('attack: client assertion without exp or jti, or of another type', async () => {
  for (const missing of ['exp', 'jti', 'iss', 'sub', 'aud']) {
    const client_assertion = await assertion(signer, { claims: { [missing]: undefined } });
    const answer = await present('/oauth2/token', {
      fields: { client_assertion_type: ASSERTION_TYPE, client_assertion },
    });
    ok([400, 401].includes(answer.status) && !('access_token' in answer.body), missing);
  }
  const client_assertion = await assertion(signer);
  for (const client_assertion_type of ['', 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer']) {
    const answer = await present('/oauth2/token', { fields: { client_assertion_type, client_assertion } });
    equal(answer.status, 400);
  }
});

test('client assertion: valid once, also in parallel and at another endpoint', async () => {
  const fields = { client_assertion_type: ASSERTION_TYPE, client_assertion: await assertion(signer) };
  const answers = await Promise.all(Array.from({ length: 8 }, () => present('/oauth2/token', { fields })));
  equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const { status } of answers) ok([200, 400, 401].includes(status), String(status));
  for (const path of Object.keys(places)) {
    const again = await present(path, { fields });
    ok([400, 401].includes(again.status) && !('active' in again.body), path);
  }
});
