// Attack (RFC 8725 §2.1, §3.1; decision 0019): there are signing keys of two kinds, so a token by the one is tried where the other is
// due: access tokens by the key for ES256, hints by the algorithm that the application does not have, keys and algorithms that do not
// belong together, and applications that choose what nobody should have.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHmac, type JsonWebKey } from 'node:crypto';
import test, { after } from 'node:test';
import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { createSealer } from '../../src/keys/index.ts';
import { createSigningKeys } from '../../src/keys/signing-keys.ts';
import { signingKeys } from '../../src/store/collections.ts';
import {
  bearer,
  call,
  change,
  claimsOf,
  headerOf,
  introspect,
  isActive,
  type Json,
  postForm,
  tokensOf,
  userinfo,
} from '../flows/support.ts';
import { Agent, redeem } from '../support/agent.ts';
import { REDIRECT_URI, SECRET_KEY, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const more = { scope: 'openid profile admin', post_logout_redirect_uris: [BYE] };
const elliptic = await app.register({ ...more, id_token_signed_response_alg: 'ES256' });
const ordinary = await app.register(more);
const root = await app.createUser('root', { role: 'admin' });
const scope = 'openid profile admin';
const agent = new Agent(app);
const own = await tokensOf(app, elliptic, root, { scope }, agent);
const usual = await tokensOf(app, ordinary, root, { scope }, agent);

const { current, currentEs256 } = await createSigningKeys({
  collection: app.store.collection(signingKeys),
  sealer: createSealer([SECRET_KEY]),
  clock: Date.now,
}).load();
const rsa = await importJWK(current.privateJwk, 'RS256');
const ec = await importJWK(currentEs256.privateJwk, 'ES256');
const stranger = await generateKeyPair('ES256', { extractable: true });
const strangerJwk: JWK = { ...(await exportJWK(stranger.publicKey)), alg: 'ES256', use: 'sig' };

type Key = Parameters<CompactSign['sign']>[0];
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (header: Json, claims: Json, key: Key): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key);
const assemble = (header: Json, claims: Json, signature: string): string =>
  `${part(header)}.${part(claims)}.${signature}`;
const byPublicKey = (header: Json, claims: Json, key: JsonWebKey | string): string => {
  const input = `${part({ ...header, alg: 'HS256' })}.${part(claims)}`;
  const secret = typeof key === 'string' ? key : JSON.stringify(key);
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

/** X.690 instead of RFC 7518 §3.4, with the same two numbers. */
function inDer(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url');
  const integer = (half: Buffer): Buffer => {
    const value = half[0] !== undefined && half[0] >= 0x80 ? Buffer.concat([Buffer.of(0), half]) : half;
    return Buffer.concat([Buffer.of(2, value.length), value]);
  };
  const both = Buffer.concat([integer(bytes.subarray(0, 32)), integer(bytes.subarray(32))]);
  return Buffer.concat([Buffer.of(0x30, both.length), both]).toString('base64url');
}

/** What one forger makes of a genuine token, its claims unchanged or as the forger would have them. */
async function forgeries(genuine: string, typ: string | undefined): Promise<Record<string, string>> {
  const claims = claimsOf(genuine);
  const [, , signature = ''] = genuine.split('.');
  const head = typ === undefined ? {} : { typ };
  const [ofRsa, ofEc] = [
    { ...head, kid: current.kid },
    { ...head, kid: currentEs256.kid },
  ];
  const { d: _, ...publicEc } = currentEs256.privateJwk;
  return {
    'ES256 with the id of the RSA key': await signed(ofRsa, claims, ec),
    'RS256 with the id of the EC key': await signed({ ...ofEc, alg: 'RS256' }, claims, rsa),
    'ES256 without an id, by a stranger': await signed(head, claims, stranger.privateKey),
    'a key that comes along': await signed({ ...head, jwk: strangerJwk }, claims, stranger.privateKey),
    'a stranger’s with our id': await signed(ofEc, claims, stranger.privateKey),
    'HS256 with the public EC key': byPublicKey(ofEc, claims, publicEc),
    'HS256 with its x': byPublicKey(ofEc, claims, publicEc.x),
    'PS256 by the RSA key': await signed(
      { ...ofRsa, alg: 'PS256' },
      claims,
      await importJWK({ ...current.privateJwk, alg: 'PS256' }, 'PS256'),
    ),
    // CVE-2022-21449: r and s of zero.
    'a signature of zeros': assemble(
      { ...ofEc, alg: 'ES256' },
      claims,
      Buffer.alloc(64).toString('base64url'),
    ),
    'an empty signature': assemble({ ...ofEc, alg: 'ES256' }, claims, ''),
    none: assemble({ ...head, alg: 'none' }, claims, ''),
    'ES384, EdDSA': assemble({ ...ofEc, alg: 'ES384' }, claims, signature),
    'another’s signature': assemble(
      { ...ofEc, alg: 'ES256' },
      claims,
      signature.slice(0, 86).padEnd(86, 'A'),
    ),
  };
}

async function expectNoBearer(token: string, what: string): Promise<void> {
  equal((await userinfo(app, token)).status, 401, what);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(token) })).status, 401, what);
  equal((await introspect(app, usual.access_token, bearer(token))).status, 401, what);
  equal(await isActive(app, token), false, what);
  equal((await postForm(app, '/oauth2/revoke', { token })).status, 200, what);
}

test('attack: an access token by our own key for ES256, and by everything near it', async () => {
  const claims = claimsOf(usual.access_token);
  const ofEc = { typ: 'at+jwt', kid: currentEs256.kid };
  const tried = {
    ...(await forgeries(usual.access_token, 'at+jwt')),
    'ES256 by the right key': await signed(ofEc, claims, ec),
    'the same without a type': await signed({ kid: currentEs256.kid }, claims, ec),
    'the same as JWT': await signed({ ...ofEc, typ: 'JWT' }, claims, ec),
  };
  for (const [what, token] of Object.entries(tried)) await expectNoBearer(token, what);
  equal(await isActive(app, usual.access_token), true);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(usual.access_token) })).status, 200);
});

test('attack: an ID token by ES256 as a bearer', () => expectNoBearer(own.id_token, 'ID token'));

const NAVIGATION = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** The person stays signed in, and is sent nowhere; nor does the hint name anyone at the authorization endpoint. */
async function expectNoHint(client: typeof elliptic, hint: string, what: string): Promise<void> {
  const query = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: BYE });
  const page = await agent.get(`/oauth2/logout?${query}`, { headers: NAVIGATION });
  equal(page.location, undefined, what);
  const silent = await agent
    .signIn(client.id, root, { prompt: 'none', id_token_hint: hint })
    .catch(() => undefined);
  ok(silent?.code === undefined || silent.code === '', what);
  ok((await agent.signIn(client.id, root, { prompt: 'none' })).code, `${what}: still signed in`);
}

for (const [name, client, tokens] of [
  ['ES256', elliptic, own],
  ['RS256', ordinary, usual],
] as const)
  test(`attack: a hint for an application of ${name}, forged or by our key of the other kind`, async () => {
    const claims = claimsOf(tokens.id_token);
    equal(headerOf(tokens.id_token).alg, name);
    const other =
      name === 'ES256'
        ? await signed({ alg: 'RS256', kid: current.kid }, claims, rsa)
        : await signed({ kid: currentEs256.kid }, claims, ec);
    const tried = { ...(await forgeries(tokens.id_token, undefined)), 'our key of the other kind': other };
    for (const [what, hint] of Object.entries(tried)) await expectNoHint(client, hint, what);
    const { code } = await agent.signIn(client.id, root, { prompt: 'none', id_token_hint: tokens.id_token });
    ok(code);
  });

test('attack: a signature in DER, of the right key', async () => {
  const [head, payload, signature = ''] = own.id_token.split('.');
  await expectNoHint(elliptic, `${head}.${payload}.${inDer(signature)}`, 'DER');
});

test('attack: other tokens of ours by ES256 in place of an ID token', async () => {
  for (const [header, extra] of [
    [{ typ: 'logout+jwt' }, {}],
    [{ typ: 'at+jwt' }, {}],
    [{}, { scope: 'openid' }],
    [{}, { client_id: elliptic.id }],
  ] as const) {
    const hint = await signed(
      { kid: currentEs256.kid, ...header },
      { ...claimsOf(own.id_token), ...extra },
      ec,
    );
    await expectNoHint(elliptic, hint, JSON.stringify([header, extra]));
  }
});

test('attack: an ID token from before the application changed its algorithm, as a hint', async () => {
  const changing = await app.register(more);
  const { id_token } = await tokensOf(app, changing, root, {}, agent);
  await app.admin('PATCH', `/clients/${changing.id}`, { id_token_signed_response_alg: 'ES256' });
  await expectNoHint(changing, id_token, 'former algorithm');
});

const WEAK = ['none', 'HS256', 'HS512', 'PS256', 'RS512', 'ES384', 'EdDSA', 'es256', ''];

test('attack: an application that chooses any other algorithm than these two', async () => {
  for (const member of ['id_token_signed_response_alg', 'userinfo_signed_response_alg'])
    for (const alg of WEAK) {
      const answer = await app.admin('POST', '/clients', { redirect_uris: [REDIRECT_URI], [member]: alg });
      deepEqual(
        [answer.status, Object.keys(answer.body.error?.fields ?? {})],
        [400, [member]],
        `${member} ${alg}`,
      );
      const changed = await app.admin('PATCH', `/clients/${ordinary.id}`, { [member]: alg });
      equal(changed.status, 400, `${member} ${alg}`);
    }
});

test('attack: a stranger’s program that chooses: one of the two, and nothing else', async () => {
  await change(app, { agents: true });
  const register = (members: Json) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'A', redirect_uris: [REDIRECT_URI], ...members }),
    });
  for (const alg of WEAK) {
    const { status, body } = await register({ id_token_signed_response_alg: alg });
    deepEqual([status, body.error], [400, 'invalid_client_metadata'], alg);
  }
  const { status, body } = await register({
    id_token_signed_response_alg: 'ES256',
    userinfo_signed_response_alg: 'ES256',
  });
  deepEqual(
    [status, body.id_token_signed_response_alg, body.userinfo_signed_response_alg],
    [201, 'ES256', undefined],
  );
  const client = { id: String(body.client_id), secret: '' };
  const person = await app.createUser('person');
  const tokens = (await redeem(app, client, await new Agent(app).signIn(client.id, person))).body;
  deepEqual([headerOf(tokens.id_token).alg, headerOf(tokens.access_token).alg], ['ES256', 'RS256']);
  const { headers } = await userinfo(app, tokens.access_token);
  match(headers.get('content-type') ?? '', /^application\/json/);
});

test('attack: after a compromise what both keys signed counts no more', async () => {
  equal((await app.admin('POST', '/keys/rotate', { mode: 'compromised' })).status, 200);
  const { body } = await call(app, 'GET', '/.well-known/jwks.json');
  const kids = [body.keys].flat().map((key) => String(Object(key).kid));
  deepEqual([kids.length, kids.includes(current.kid), kids.includes(currentEs256.kid)], [2, false, false]);
  await expectNoHint(elliptic, own.id_token, 'ES256');
  await expectNoHint(ordinary, usual.id_token, 'RS256');
  await expectNoBearer(usual.access_token, 'access token');
  const later = await tokensOf(app, elliptic, root, {}, agent);
  ok(kids.includes(String(headerOf(later.id_token).kid)));
});
