// Forged and altered tokens (RFC 8725, RFC 9068 §4): refused wherever a bearer is accepted. The forger starts
// from an administrator's own token, so that an accepted forgery would open everything.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHmac, createPublicKey, createSign, type KeyObject } from 'node:crypto';
import test, { after } from 'node:test';
import { exportJWK, exportPKCS8, generateKeyPair, SignJWT } from 'jose';
import { createSealer } from '../../src/keys/sealing.ts';
import { createSigningKeys } from '../../src/keys/signing-keys.ts';
import { signingKeys } from '../../src/store/collections.ts';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import {
  bearer,
  call,
  claimsOf,
  headerOf,
  introspect,
  isActive,
  type Json,
  postForm,
  tokensOf,
  userinfo,
} from './support.ts';

const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789';
const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const client = await app.register({ scope: 'openid profile admin' });
const root = await app.createUser('root', { role: 'admin' });
const agent = new Agent(app);
const tokens = await tokensOf(app, client, root, { scope: 'openid profile admin' }, agent);
const genuine = tokens.access_token;
const [head = '', payload = '', signature = ''] = genuine.split('.');
const header = headerOf(genuine);
const claims = claimsOf(genuine);

const { keys } = JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text);
const publicKey: KeyObject = createPublicKey({ key: keys[0], format: 'jwk' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const der = publicKey.export({ type: 'spki', format: 'der' });
const stranger = await generateKeyPair('RS256', { extractable: true });
const strangerPem = await exportPKCS8(stranger.privateKey);
const strangerJwk = { ...(await exportJWK(stranger.publicKey)), alg: 'RS256', use: 'sig', kid: header.kid };

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const assemble = (head: Json, body: Json, end: string): string => `${part(head)}.${part(body)}.${end}`;
const hmac = (key: string | Buffer, head: Json, body: Json): string => {
  const input = `${part(head)}.${part(body)}`;
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
};
const byStranger = (head: Json, body: Json): string => {
  const input = `${part(head)}.${part(body)}`;
  return `${input}.${createSign('sha256').update(input).sign(strangerPem, 'base64url')}`;
};

/** Another spelling of the same bytes: the unused bits of the last symbol. */
function respell(encoded: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(encoded.at(-1) ?? '');
  return encoded.length % 4 === 0 ? encoded : encoded.slice(0, -1) + alphabet[last ^ 1];
}

const respelled = [
  `${respell(head)}.${payload}.${signature}`,
  `${head}.${respell(payload)}.${signature}`,
  `${head}.${payload}.${respell(signature)}`,
].filter((token) => token !== genuine);

const forgeries: Readonly<Record<string, readonly string[]>> = {
  'alg none': ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => [
    assemble({ ...header, alg }, claims, ''),
    assemble({ ...header, alg }, claims, signature),
    `${part({ ...header, alg })}.${payload}`,
  ]),
  'HS256 with the public key': [
    pem,
    pem.trimEnd(),
    pem.replaceAll('\n', ''),
    JSON.stringify(keys[0]),
    String(keys[0].n),
    der,
    '',
  ].map((key) => hmac(key, { ...header, alg: 'HS256' }, claims)),
  'another key under our kid': [byStranger(header, claims)],
  'another key under another kid, or none': [
    byStranger({ ...header, kid: 'mine' }, claims),
    byStranger({ ...header, kid: undefined }, claims),
    byStranger({ ...header, kid: '' }, claims),
    byStranger({ ...header, kid: '../../dev/null' }, claims),
    byStranger({ ...header, kid: '__proto__' }, claims),
  ],
  'a key that comes along': [
    byStranger({ ...header, jwk: strangerJwk }, claims),
    byStranger({ ...header, kid: undefined, jwk: strangerJwk }, claims),
    byStranger({ ...header, jku: 'https://evil.example/jwks.json' }, claims),
    byStranger({ ...header, x5u: 'https://evil.example/cert.pem' }, claims),
    byStranger({ ...header, x5c: ['MIIB'] }, claims),
  ],
  'another algorithm of the same family': ['RS384', 'RS512', 'PS256', 'ES256', 'EdDSA'].map((alg) =>
    assemble({ ...header, alg }, claims, signature),
  ),
  'a changed claim': [
    { iss: 'https://evil.example' },
    { aud: 'other' },
    { sub: 'other' },
    { exp: Number(claims.exp) + 3600 },
    { client_id: 'other' },
    { scope: 'openid profile admin roles' },
    { role: 'admin' },
    { jti: 'other' },
  ].map((change) => assemble(header, { ...claims, ...change }, signature)),
  'a signature that is cut, longer or another’s': [
    `${head}.${payload}.`,
    `${head}.${payload}`,
    `${head}.${payload}.${signature.slice(0, -1)}`,
    `${head}.${payload}.${signature.slice(0, 20)}`,
    `${genuine}A`,
    `${genuine}AAAA`,
    `${genuine}.`,
    `${genuine}.x`,
    `${head}.${payload}.${tokens.id_token.split('.')[2]}`,
    `${tokens.id_token.split('.')[0]}.${tokens.id_token.split('.')[1]}.${signature}`,
  ],
  'the same bytes, spelled differently': [
    ...respelled,
    `${head}.${payload}.${signature}==`,
    `${head}.${payload}=.${signature}`,
    ...(/[-_]/.test(signature)
      ? [`${head}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}`]
      : []),
  ],
  'another type': [
    assemble({ ...header, typ: 'JWT' }, claims, signature),
    byStranger({ ...header, typ: 'application/at+jwt' }, claims),
    assemble({ ...header, crit: ['exp'] }, claims, signature),
    assemble({ ...header, b64: false, crit: ['b64'] }, claims, signature),
  ],
  'another form of JWS or JWE': [
    JSON.stringify({ protected: head, payload, signature }),
    `${head}.${payload}.${signature}.${payload}.${signature}`,
    `${payload}.${head}.${signature}`,
    '..',
    '.',
    `${head}..${signature}`,
  ],
};

async function expectRefused(token: string, what: string): Promise<void> {
  // What cannot stand in a header is only tried where it can.
  if (/^[\x21-\x7e]*$/.test(token)) {
    const person = await userinfo(app, token);
    ok([400, 401].includes(person.status), `userinfo, ${what}: ${person.status}`);
    match(person.headers.get('www-authenticate') ?? '', /^Bearer/);
    const list = await call(app, 'GET', '/admin/api/users', { headers: bearer(token) });
    equal(list.status, 401, `admin API, ${what}`);
    ok(!list.text.includes('root'));
    equal((await introspect(app, genuine, bearer(token))).status, 401, `as the asking bearer, ${what}`);
  }
  equal(await isActive(app, token), false, `introspection, ${what}`);
  equal((await postForm(app, '/oauth2/revoke', { token })).status, 200);
}

test('control: the genuine token is accepted everywhere', async () => {
  equal((await userinfo(app, genuine)).status, 200);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(genuine) })).status, 200);
  equal(await isActive(app, genuine), true);
  ok(respelled.length > 0);
});

for (const [what, variants] of Object.entries(forgeries)) {
  test(`attack: token with ${what}: refused (${variants.length})`, async () => {
    for (const [at, token] of variants.entries()) await expectRefused(token, `${what} ${at}`);
    equal(await isActive(app, genuine), true, 'no forgery revoked the genuine one');
  });
}

test('attack: a token signed with the real key, of another type, issuer or time, or unstored', async () => {
  const keySet = await createSigningKeys({
    collection: app.store.collection(signingKeys),
    sealer: createSealer([SECRET_KEY]),
    clock: Date.now,
  }).load();
  const key = keySet.current.privateJwk;
  const sign = (body: Json, head: Json = {}): Promise<string> =>
    new SignJWT(body).setProtectedHeader({ ...header, alg: 'RS256', ...head }).sign(key);
  const again = await sign(claims);
  equal(await isActive(app, again), true, 'this is how ours are made');
  const made: Record<string, Json> = {
    'never stored': { ...claims, jti: 'never-stored' },
    'no jti': { ...claims, jti: undefined },
    'another issuer': { ...claims, iss: 'https://evil.example' },
    'no issuer': { ...claims, iss: undefined },
    expired: { ...claims, exp: Number(claims.iat) - 10 },
    'without an end': { ...claims, exp: undefined },
    'not yet': { ...claims, nbf: Number(claims.iat) + 600 },
    'a client’s own of that jti': { ...claims, sub: client.id },
    'no client': { ...claims, client_id: undefined },
  };
  for (const [what, body] of Object.entries(made)) await expectRefused(await sign(body), what);
  for (const typ of ['JWT', 'logout+jwt', 'id+jwt', undefined])
    await expectRefused(await sign(claims, { typ }), `typ ${typ}`);
  for (const kid of ['another', '', undefined])
    await expectRefused(await sign(claims, { kid }), `kid ${kid}`);
});

test('attack: an ID token as a bearer, and an access token as an ID token (R041)', async () => {
  await expectRefused(tokens.id_token, 'ID token');
  // As a hint it would name the session: a stolen access token must not sign the person out.
  const page = await agent.get(`/oauth2/logout?id_token_hint=${genuine}`, {
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  });
  ok(page.status !== 303 && page.body.includes('<form'), page.body);
  equal(await isActive(app, genuine), true);
  const silent = await agent.authorize({
    client_id: client.id,
    redirect_uri: 'https://rp.example/callback',
    response_type: 'code',
    scope: 'openid',
    prompt: 'none',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    id_token_hint: genuine,
  });
  deepEqual(new URL(silent.location ?? '').searchParams.get('error'), 'invalid_request');
});

test('attack: a token altered by one letter at each endpoint', async () => {
  for (let at = 0; at < genuine.length; at += 37) {
    if (genuine[at] === '.') continue;
    const changed = `${genuine.slice(0, at)}${genuine[at] === 'x' ? 'y' : 'x'}${genuine.slice(at + 1)}`;
    equal(await isActive(app, changed), false, String(at));
  }
});
