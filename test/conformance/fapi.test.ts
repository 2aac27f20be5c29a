// The plans FAPI 2.0 Security Profile and Message Signing (signed requests and responses) of the OpenID Foundation's suite, one row per
// distinct behaviour that the product has: `private_key_jwt`, pushed requests, PKCE, tokens bound to a key by DPoP, ID tokens by ES256.
// What is not in it is in docs/conformance.md.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import {
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { type Answer, call, change, claimsOf, epoch, headerOf, later, postForm } from '../flows/support.ts';
import { Agent, challengeOf, codeRequest, type Page, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { athOf, type ProofKey, proofKey, proofOf } from '../support/dpop.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { legacy_profiles: true });
const person = await app.createUser('connie');

type Fields = Readonly<Record<string, string | undefined>>;
type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

interface Client {
  readonly id: string;
  readonly keys: Keys;
}

async function register(more: object = {}): Promise<Client> {
  const keys = await generateKeyPair('PS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', use: 'sig' };
  const { id } = await app.register({
    skip_consent: true,
    scope: 'openid email offline_access',
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'PS256',
    jwks: { keys: [jwk] },
    id_token_signed_response_alg: 'ES256',
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
    require_pkce: true,
    ...more,
  });
  return { id, keys };
}

const [client, other, signed, signing] = [
  await register(),
  await register(),
  await register({ authorization_signed_response_alg: 'ES256' }),
  await register({ profile: 'legacy', require_signed_request_object: true }),
];
const [key, thief] = [await proofKey(), await proofKey()];
const [PAR, TOKEN, USERINFO] = ['/oauth2/par', '/oauth2/token', '/oauth2/userinfo'];

const sign = ({ keys }: Client, claims: JWTPayload, alg = 'PS256'): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, kid: 'k' }).sign(keys.privateKey);

const identity = (by: Client): JWTPayload => ({
  iss: by.id,
  sub: by.id,
  aud: app.issuer,
  jti: randomUUID(),
  iat: epoch(),
  exp: epoch() + 60,
});

const authenticated = async (by: Client, assertion = sign(by, identity(by))) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: await assertion,
});

const given = (fields: Fields): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** At an endpoint that applications authenticate at, as `by`. */
const ask = async (path: string, fields: Fields, { by = client, proof }: Asking = {}): Promise<Answer> =>
  postForm(app, path, given({ ...(await authenticated(by)), ...fields }), proof ? { DPoP: await proof } : {});

interface Asking {
  readonly by?: Client;
  readonly proof?: Promise<string>;
}

const request = (more: Fields = {}, by = client): Fields => ({
  ...codeRequest(by.id),
  state: 's',
  nonce: 'n',
  ...more,
});
const refusal = ({ status, body }: Answer): unknown[] => [status, body.error];

async function push(more: Fields = {}, asking: Asking = {}): Promise<string> {
  const { status, text, body } = await ask(PAR, request(more, asking.by), asking);
  equal(status, 201, text);
  return String(body.request_uri);
}

const open = (uri: string, { agent = new Agent(app), by = client } = {}): Promise<Page> =>
  agent.authorize({ client_id: by.id, request_uri: uri });

async function answerTo(uri: string, by = client): Promise<URLSearchParams> {
  const agent = new Agent(app);
  return (await agent.finish(await open(uri, { agent, by }), person)).searchParams;
}

const proofFor = (path: string, by: ProofKey = key, claims: object = {}): Promise<string> =>
  proofOf(by, 'POST', `${app.url}${path}`, { ...claims });

interface Exchange extends Asking {
  readonly verifier?: string | undefined;
}

const exchange = (code: string | null, { verifier = VERIFIER, ...asking }: Exchange = {}): Promise<Answer> =>
  ask(
    TOKEN,
    {
      grant_type: 'authorization_code',
      code: code ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
    },
    { proof: proofFor(TOKEN), ...asking },
  );

const newCode = async (more: Fields = {}, asking: Asking = {}): Promise<string | null> =>
  (await answerTo(await push(more, asking), asking.by)).get('code');

async function newToken(more: Fields = {}): Promise<string> {
  const { status, text, body } = await exchange(await newCode(more));
  equal(status, 200, text);
  return String(body.access_token);
}

const use = async (authorization: string, proof?: Promise<string>): Promise<number> => {
  const headers = { authorization, ...(proof && { DPoP: await proof }) };
  return (await call(app, 'GET', USERINFO, { headers })).status;
};
const getProof = (claims: object, by = key) => proofOf(by, 'GET', `${app.url}${USERINFO}`, { ...claims });

test('fapi2-discovery-end-point-verification: what the profile has, and its addresses', async () => {
  const { body } = await call(app, 'GET', '/oauth2/.well-known/openid-configuration');
  deepEqual([body.issuer, body.pushed_authorization_request_endpoint], [app.issuer, `${app.url}${PAR}`]);
  deepEqual(
    [body.authorization_response_iss_parameter_supported, body.code_challenge_methods_supported],
    [true, ['S256']],
  );
  for (const [name, value] of [
    ['token_endpoint_auth_methods_supported', 'private_key_jwt'],
    ['token_endpoint_auth_signing_alg_values_supported', 'PS256'],
    ['dpop_signing_alg_values_supported', 'ES256'],
    ['request_object_signing_alg_values_supported', 'PS256'],
    ['id_token_signing_alg_values_supported', 'ES256'],
    ['userinfo_signing_alg_values_supported', 'ES256'],
  ] as const)
    ok([body[name]].flat().includes(value), name);
});

test('fapi2-happy-flow: pushed, signed in, with iss; tokens of the key, rotated too', async () => {
  const answer = await answerTo(await push({ scope: 'openid email offline_access' }));
  deepEqual([answer.get('state'), answer.get('iss')], ['s', app.issuer]);
  const { status, text, body } = await exchange(answer.get('code'));
  deepEqual([status, body.token_type], [200, 'DPoP'], text);
  equal(headerOf(String(body.id_token)).alg, 'ES256');
  const { sub, aud, nonce } = claimsOf(String(body.id_token));
  deepEqual([sub, aud, nonce], [person.id, client.id, 'n']);
  const token = String(body.access_token);
  equal(headerOf(token).alg, 'RS256');
  deepEqual(claimsOf(token).cnf, { jkt: key.thumbprint });
  equal(await use(`DPoP ${token}`, getProof({ ath: athOf(token) })), 200);
  const grant = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
  const refreshed = await ask(TOKEN, grant, { proof: proofFor(TOKEN) });
  deepEqual([refreshed.status, refreshed.body.token_type], [200, 'DPoP'], refreshed.text);
  equal(refreshed.body.refresh_token, body.refresh_token, 'FAPI 2.0 §5.3.2.1: no rotation');
});

for (const [module, more] of [
  ['without-state-success', { state: undefined }],
  ['without-nonce-success', { nonce: undefined }],
  ['with-64-char-nonce-success', { nonce: 'n'.repeat(64) }],
  ['with-long-state', { state: 's'.repeat(384) }],
  ['other-scope-order-succeeds', { scope: 'email openid' }],
  ['dpop-auth-code-binding-success', { dpop_jkt: key.thumbprint }],
] as const)
  test(`fapi2-ensure-authorization-request-${module}`, async () => {
    const answer = await answerTo(await push(more));
    equal(answer.get('state'), 'state' in more ? (more.state ?? null) : 's');
    const { status, text, body } = await exchange(answer.get('code'));
    equal(status, 200, text);
    equal(claimsOf(String(body.id_token)).nonce, 'nonce' in more ? more.nonce : 'n');
  });

for (const [module, more, error] of [
  [
    'par-ensure-pkce-required',
    { code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
  ],
  [
    'par-plain-pkce-rejected',
    { code_challenge: VERIFIER, code_challenge_method: 'plain' },
    'invalid_request',
  ],
  ['ensure-redirect-uri-in-authorization-request', { redirect_uri: undefined }, 'invalid_request'],
  ['ensure-registered-redirect-uri', { redirect_uri: `${REDIRECT_URI}/other` }, 'invalid_request'],
  ['ensure-response-type-code-idtoken-fails', { response_type: 'code id_token' }, 'invalid_request'],
  ['ensure-response-type-token-fails', { response_type: 'token' }, 'unsupported_response_type'],
  [
    'par-authorization-request-containing-request_uri-form-param',
    { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
    'request_uri_not_supported',
  ],
] as const)
  test(`fapi2-${module}: refused where it is pushed`, async () => {
    const { status, body } = await ask(PAR, request(more));
    deepEqual([status, body.error], [400, error], JSON.stringify(body));
  });

test('fapi2-par-attempt-invalid-http-method, -without-duplicate-parameters', async () => {
  equal((await call(app, 'GET', PAR)).status, 405);
  const twice = [...given({ ...(await authenticated(client)), ...request() }), ['scope', 'openid']] as const;
  const { status, body } = await postForm(
    app,
    PAR,
    twice.map(([name = '', value = '']) => [name, value]),
  );
  deepEqual([status, body.error], [400, 'invalid_request']);
});

test('fapi2-ensure-unsigned-authorization-request-without-using-par-fails', async () => {
  const { location } = await new Agent(app).authorize(request());
  const { error, iss, code } = Object.fromEntries(new URL(location ?? 'none:').searchParams);
  deepEqual([error, iss, code], ['invalid_request', app.issuer, undefined]);
});

const isRefused = ({ status, location }: Page): boolean =>
  status === 400 || (location ?? '').includes('error=invalid_request_uri');

test('fapi2-par-attempt-reuse-request_uri, -expired-request_uri, and of another application', async () => {
  const used = await push();
  ok((await answerTo(used)).get('code'));
  ok(isRefused(await open(used)));
  const expired = await push();
  await later(61_000, async () => ok(isRefused(await open(expired))));
  ok(isRefused(await open(await push(), { by: other })));
});

test('fapi2-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds', async () => {
  const uri = await push();
  equal((await open(uri)).status, 200);
  ok((await answerTo(uri)).get('code'));
});

for (const [module, forge] of [
  ['par-test-array-as-audience-fails', { aud: [app.issuer] }],
  ['par-test-token-endpoint-url-as-audience-fails', { aud: `${app.issuer}/token` }],
  ['par-test-par-endpoint-url-as-audience-fails', { aud: `${app.issuer}/par` }],
  ['ensure-client-assertion-with-wrong-aud-fails', { aud: 'https://other.example' }],
  ['ensure-client-assertion-with-no-sub-fails', { sub: undefined }],
  ['ensure-client-assertion-with-exp-is-5-minutes-in-past-fails', { exp: epoch() - 300 }],
  ['par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails', { nbf: epoch() + 120 }],
] as const)
  test(`fapi2-${module}`, async () => {
    const assertion = () => sign(client, Object.assign(identity(client), forge));
    const code = await newCode();
    for (const [path, fields] of [
      [PAR, request()],
      [TOKEN, { grant_type: 'authorization_code', code: code ?? '', redirect_uri: REDIRECT_URI }],
    ] as const)
      deepEqual(
        refusal(await ask(path, { ...fields, ...(await authenticated(client, assertion())) })),
        [401, 'invalid_client'],
        path,
      );
  });

test('fapi2-par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted', async () => {
  const assertion = sign(client, { ...identity(client), iat: epoch() + 8, nbf: epoch() + 8 });
  equal((await ask(PAR, request(await authenticated(client, assertion)))).status, 201);
});

test('fapi2-ensure-signed-client-assertion-with-RS256-fails, with none, and a second time', async () => {
  const { privateKey } = await generateKeyPair('RS256');
  const rs256 = new SignJWT(identity(client)).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
  const none = Promise.resolve(new UnsecuredJWT(identity(client)).encode());
  const once = await authenticated(client);
  equal((await ask(PAR, request(once))).status, 201);
  for (const fields of [await authenticated(client, rs256), await authenticated(client, none), once])
    deepEqual(refusal(await ask(PAR, request(fields))), [401, 'invalid_client']);
});

test('fapi2-ensure-client-assertion-in-token-endpoint: no code without it, none for another', async () => {
  const code = await newCode();
  const fields = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: REDIRECT_URI };
  const bare = { client_id: client.id, code_verifier: VERIFIER };
  const { status } = await postForm(app, TOKEN, { ...fields, ...bare }, { DPoP: await proofFor(TOKEN) });
  equal(status, 401);
  deepEqual(refusal(await exchange(code, { by: other })), [400, 'invalid_grant']);
  equal((await exchange(code)).status, 200, 'it stays with its own');
});

test('fapi2-incorrect-pkce-code-verifier-rejected, -ensure-pkce-code-verifier-required', async () => {
  for (const code_verifier of ['w'.repeat(43), undefined]) {
    const fields = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier };
    const code = (await newCode()) ?? '';
    const answer = await ask(TOKEN, { ...fields, code }, { proof: proofFor(TOKEN) });
    deepEqual(refusal(answer), [400, 'invalid_grant'], String(code_verifier));
  }
  const challenge = { code_challenge: challengeOf('z'.repeat(43)) };
  equal((await exchange(await newCode(challenge), { verifier: 'z'.repeat(43) })).status, 200);
});

test('fapi2-attempt-reuse-authorization-code, -with-expired-auth-code', async () => {
  const code = await newCode();
  equal((await exchange(code)).status, 200);
  deepEqual(refusal(await exchange(code)), [400, 'invalid_grant']);
  const old = await newCode();
  await later(61_000, async () => deepEqual(refusal(await exchange(old)), [400, 'invalid_grant']));
});

test('fapi2-ensure-holder-of-key-required: no code without a proof, none by another key', async () => {
  const bare = await ask(TOKEN, {
    grant_type: 'authorization_code',
    code: (await newCode()) ?? '',
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  deepEqual(refusal(bare), [400, 'invalid_grant']);
  const stolen = { proof: proofFor(TOKEN, thief) };
  // Bound by the parameter, or by a proof where it was pushed.
  deepEqual(refusal(await exchange(await newCode({ dpop_jkt: key.thumbprint }), stolen)), [
    400,
    'invalid_grant',
  ]);
  const atPar = await newCode({}, { proof: proofFor(PAR) });
  deepEqual(refusal(await exchange(atPar, stolen)), [400, 'invalid_grant']);
  equal((await exchange(await newCode({}, { proof: proofFor(PAR) }))).status, 200);
});

test('fapi2-ensure-mismatched-dpop-jkt-fails: parameter and proof of two keys', async () => {
  const fields = request({ dpop_jkt: thief.thumbprint });
  deepEqual(refusal(await ask(PAR, fields, { proof: proofFor(PAR) })), [400, 'invalid_request']);
});

test('fapi2-dpop-negative-tests: a token without its key, with a wrong or used proof', async () => {
  const token = await newToken();
  const right = { ath: athOf(token) };
  const once = getProof(right);
  equal(await use(`DPoP ${token}`, once), 200);
  for (const [what, authorization, proof] of [
    ['as Bearer', `Bearer ${token}`, undefined],
    ['no proof', `DPoP ${token}`, undefined],
    ['used proof', `DPoP ${token}`, once],
    ['another key', `DPoP ${token}`, getProof(right, thief)],
    ['another token', `DPoP ${token}`, getProof({ ath: athOf('another') })],
    ['another method', `DPoP ${token}`, proofFor(USERINFO, key, right)],
    ['too old', `DPoP ${token}`, getProof({ ...right, iat: epoch() - 600 })],
    ['of the future', `DPoP ${token}`, getProof({ ...right, iat: epoch() + 600 })],
  ] as const)
    ok([400, 401].includes(await use(authorization, proof)), what);
});

test('fapi2-ensure-dpopproof-with-iat-10seconds-before, -after, and any case of the scheme', async () => {
  const token = await newToken();
  for (const [scheme, iat] of [
    ['DPoP', epoch() - 10],
    ['DPoP', epoch() + 10],
    ['dpop', epoch()],
    ['DPOP', epoch()],
  ] as const)
    equal(await use(`${scheme} ${token}`, getProof({ ath: athOf(token), iat })), 200, `${scheme} ${iat}`);
});

test('fapi2-user-rejects-authentication: access_denied with state and iss', async () => {
  const agent = new Agent(app);
  const page = await agent.submit(await open(await push(), { agent }), { action: 'cancel' });
  const { error, state, iss } = Object.fromEntries(new URL(page.location ?? 'none:').searchParams);
  deepEqual([error, state, iss], ['access_denied', 's', app.issuer]);
});

/** A request object as the suite signs one. */
const object = (claims: object = {}, alg = 'PS256'): Promise<string> => {
  const now = epoch();
  const { state, nonce, ...inside } = JSON.parse(JSON.stringify(request({}, signing)));
  const whole = { ...inside, state, nonce, iss: signing.id, aud: app.issuer, nbf: now, exp: now + 300 };
  return sign(signing, { ...whole, ...claims }, alg);
};
const pushObject = async (made: Promise<string>, more: Fields = {}): Promise<Answer> =>
  ask(PAR, { client_id: signing.id, request: await made, ...more }, { by: signing });

for (const [module, made] of [
  ['happy-flow', () => object()],
  ['request-object-with-multiple-aud-succeeds', () => object({ aud: [app.issuer, 'https://other.example'] })],
  ['request-object-with-nbf-8-seconds-in-the-future', () => object({ nbf: epoch() + 8 })],
] as const)
  test(`fapi2-message-signing-${module}: what is inside counts alone`, async () => {
    const { status, text, body } = await pushObject(made(), { state: 'outside', nonce: 'outside' });
    equal(status, 201, text);
    const answer = await answerTo(String(body.request_uri), signing);
    equal(answer.get('state'), 's');
    const tokens = await exchange(answer.get('code'), { by: signing });
    equal(claimsOf(String(tokens.body.id_token)).nonce, 'n', tokens.text);
  });

for (const [module, made] of [
  ['bad-aud', () => object({ aud: 'https://other.example' })],
  ['without-exp', () => object({ exp: undefined })],
  ['without-nbf', () => object({ nbf: undefined })],
  ['exp-over-60', () => object({ exp: epoch() + 4200 })],
  ['nbf-over-60', () => object({ nbf: epoch() - 4200 })],
  ['expired', () => object({ exp: epoch() - 60 })],
  ['signature-algorithm-none', async () => new UnsecuredJWT({ ...request({}, signing) }).encode()],
  ['invalid-signature', () => sign(client, { ...request({}, signing), ...identity(signing), nbf: epoch() })],
] as const)
  test(`fapi2-ensure-request-object-${module}-fails`, async () => {
    deepEqual(refusal(await pushObject(made())), [400, 'invalid_request_object']);
  });

test('fapi2-ensure-unsigned-request-at-par-endpoint-fails: of an application that signs', async () => {
  const { status, body } = await ask(PAR, request({}, signing), { by: signing });
  deepEqual([status, body.error], [400, 'invalid_request']);
  match(String(body.error_description), /request object/i);
});

/** JARM: what is in the response that was signed for the application, once the signature holds. */
async function signedAnswer(page: Page): Promise<Record<string, unknown>> {
  const response = new URL(page.location ?? 'none:').searchParams.get('response') ?? '';
  const keys = createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`));
  const expected = { issuer: app.issuer, audience: signed.id, algorithms: ['ES256'] };
  const { payload } = await jwtVerify(response, keys, expected);
  // JARM §2.1 recommends ten minutes at most.
  ok(Number(payload.exp) - epoch() <= 600);
  return { ...payload };
}

test('fapi2-message-signing-happy-flow, jarm: a pushed request, a signed response with the code', async () => {
  const uri = await push({ response_mode: 'jwt' }, { by: signed });
  const agent = new Agent(app);
  const page = await agent.submit(await open(uri, { agent, by: signed }), {
    username: person.username,
    password: PASSWORD,
  });
  const { code, state, error } = await signedAnswer(page);
  deepEqual([state, error], ['s', undefined]);
  const { status, text, body } = await exchange(String(code), { by: signed });
  equal(status, 200, text);
  equal(headerOf(String(body.id_token)).alg, 'ES256');
});

test('fapi2-user-rejects-authentication, jarm: access_denied in a signed response', async () => {
  const agent = new Agent(app);
  const uri = await push({ response_mode: 'jwt' }, { by: signed });
  const page = await agent.submit(await open(uri, { agent, by: signed }), { action: 'cancel' });
  const { error, state, code } = await signedAnswer(page);
  deepEqual([error, state, code], ['access_denied', 's', undefined]);
});

test('fapi2, jarm: signed responses are for the applications that have them alone', async () => {
  deepEqual(refusal(await ask(PAR, request({ response_mode: 'jwt' }))), [400, 'unsupported_response_mode']);
});
