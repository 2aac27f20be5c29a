// A token is known by the digest of its value in its record, one of an earlier version by its signature (src/oidc/tokens/our-jwts.ts).
// What a thief could hope for who knows what a token says, its `jti` included: that another value that says the same is believed,
// or the value itself for longer than it lives, after its key is gone, or in another spelling. That a revoked one is refused at the
// next request, in every process, is held by test/processes/two-processes.test.ts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { secretDigest } from '../../src/ids.ts';
import { createAccessTokenJwt } from '../../src/oidc/tokens/access-token-jwt.ts';
import { createOpaqueTokens } from '../../src/oidc/tokens/opaque-tokens.ts';
import { SigningKey } from '../../src/oidc/tokens/signing-key.ts';

const issuer = 'https://id.example';
const opaque = createOpaqueTokens(['0123456789abcdef0123456789abcdef0123456789']);
let now = 1_800_000_000_000;
const clock = (): number => now;

async function createKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256' };
  return { current: new SigningKey({ ...(await exportJWK(privateKey)), kid }), publicJwk };
}

const [one, other] = [await createKey('one'), await createKey('other')];
const at = now / 1000;
const claims = { iss: issuer, sub: 'ada', client_id: 'app', jti: 'token', iat: at, nbf: at, exp: at + 60 };
const readerOf = (...keys: (typeof one)[]) =>
  createAccessTokenJwt({
    keys: { current: one.current, publicJwks: keys.map(({ publicJwk }) => publicJwk) },
    issuer,
    opaque,
    clock,
  });
const reader = readerOf(one, other);
const token = await reader.sign(claims);
const digest = secretDigest(token);
const resolve = (jwt: string, by = reader) => by.resolve(jwt, 'AccessToken');
/** By its record, and by that of a version that stored no digest. */
const believed = (jwt: string, by = reader): boolean[] =>
  [digest, undefined].map((stored) => resolve(jwt, by)?.isIssued(stored) ?? false);
const [YES, NO] = [
  [true, true],
  [false, false],
];

test('value of a token: refused from the second at which it ends, and before it begins', () => {
  const { jti, format } = resolve(token) ?? {};
  assert.deepEqual([jti, format, believed(token)], ['token', 'at+jwt', YES]);
  now += 59_999;
  assert.deepEqual(believed(token), YES);
  now += 1;
  assert.equal(resolve(token), undefined);
  now -= 61_000;
  assert.equal(resolve(token), undefined);
  now += 1_000;
  assert.deepEqual(believed(token), YES);
});

test('attack: a token with any character changed, added or missing is another one', () => {
  for (let n = 0; n < token.length; n += 1) {
    const changed = token[n] === 'A' ? 'B' : 'A';
    if (token[n] === '.') continue;
    assert.deepEqual(believed(token.slice(0, n) + changed + token.slice(n + 1)), NO, `character ${n}`);
  }
  const [head = '', body = '', signature = ''] = token.split('.');
  for (const one of [
    `${token} `,
    ` ${token}`,
    `${token}=`,
    `${token}.`,
    token.slice(0, -1),
    `${head}.${body}.`,
    `${head}..${signature}`,
  ])
    assert.deepEqual(believed(one), NO, one);
});

test('attack: what a token says, unsigned or signed by another key', async () => {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const [head = '', body = ''] = token.split('.');
  const stranger = createAccessTokenJwt({
    keys: { current: (await createKey('one')).current, publicJwks: [] },
    issuer,
    opaque,
    clock,
  });
  const forgeries = [
    `${encode({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${body}.`,
    `${encode({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${body}.AA`,
    `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${body}.AA`,
    `${head}.${body}.AA`,
    `${head}.${body}.${Buffer.alloc(256, 1).toString('base64url')}`,
    await stranger.sign(claims),
  ];
  for (const forged of forgeries) assert.deepEqual(believed(forged), NO, forged);
  // Ours, but not the value of this record: one with a later end, for example.
  const later = await reader.sign({ ...claims, exp: claims.exp + 60 });
  assert.deepEqual(believed(later), [false, true]);
});

test('attack: a record whose digest is cut, or empty, proves nothing', () => {
  for (const stored of ['', digest.slice(0, -1), `${digest}=`, token, 'x'.repeat(digest.length)])
    assert.equal(resolve(token)?.isIssued(stored), false, stored);
});

test('value of a token: refused once its key is gone; one of a key that stays is believed', () => {
  assert.equal(resolve(token, readerOf(other)), undefined);
  assert.deepEqual(believed(token, readerOf(other, one)), YES);
});

test('value of a token: it stays of its kind, and of its issuer', async () => {
  assert.equal(reader.resolve(token, 'ClientCredentials'), undefined);
  assert.equal(reader.kindOf(token), 'AccessToken');
  for (const change of [
    { iss: 'https://other.example' },
    { jti: undefined },
    { exp: undefined },
    { exp: 'never' },
  ]) {
    // What no code of ours signs.
    const signed = await reader.sign(JSON.parse(JSON.stringify({ ...claims, ...change })));
    assert.equal(resolve(signed), undefined, JSON.stringify(change));
  }
});

test('attack: a token that we did not sign has no client', () => {
  assert.equal(reader.clientOf(token), 'app');
  const [head = '', body = ''] = token.split('.');
  assert.equal(reader.clientOf(`${head}.${body}.AA`), undefined);
  assert.equal(readerOf(other).clientOf(token), undefined);
});
