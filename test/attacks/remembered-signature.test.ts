// A signature that was verified once is not verified again (src/oidc/tokens/verified-jwts.ts). What a thief could hope for: that a
// token is believed for longer than it lives, after its key is gone, or in another spelling. That a revoked one is refused at
// the next request, in every process, is held by test/processes/two-processes.test.ts.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { exportJWK, generateKeyPair } from 'jose';
import { createAccessTokenJwt } from '../../src/oidc/tokens/access-token-jwt.ts';
import { createOpaqueTokens } from '../../src/oidc/tokens/opaque-tokens.ts';
import { SigningKey } from '../../src/oidc/tokens/signing-key.ts';
import { createJwtVerifier } from '../../src/oidc/tokens/verified-jwts.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

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
const believe = (jwt: string) => reader.resolve(jwt, 'AccessToken');

test('remembered token: refused from the second at which it ends, and before it begins', () => {
  assert.deepEqual(believe(token), { jti: 'token', format: 'at+jwt' });
  now += 59_999;
  assert.deepEqual(believe(token), { jti: 'token', format: 'at+jwt' });
  now += 1;
  assert.equal(believe(token), undefined);
  now -= 61_000;
  assert.equal(believe(token), undefined);
  now += 1_000;
  assert.deepEqual(believe(token), { jti: 'token', format: 'at+jwt' });
});

test('remembered token: with any character changed, added or missing it is another one', () => {
  assert.ok(believe(token));
  for (let n = 0; n < token.length; n += 1) {
    const changed = token[n] === 'A' ? 'B' : 'A';
    if (token[n] === '.') continue;
    assert.equal(believe(token.slice(0, n) + changed + token.slice(n + 1)), undefined, `character ${n}`);
  }
  const [head, body, signature] = token.split('.');
  for (const one of [
    `${token} `,
    ` ${token}`,
    `${token}=`,
    `${token}.`,
    token.slice(0, -1),
    `${head}.${body}.`,
  ])
    assert.equal(believe(one), undefined, one);
  assert.equal(believe(`${head}..${signature}`), undefined);
  assert.ok(believe(token));
});

test('remembered token: refused once its key is gone; one of a key that stays is believed', () => {
  assert.ok(believe(token));
  assert.equal(readerOf(other).resolve(token, 'AccessToken'), undefined);
  assert.ok(readerOf(other, one).resolve(token, 'AccessToken'));
});

test('remembered token: it stays of its kind, and of its issuer', async () => {
  assert.ok(believe(token));
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
    assert.equal(believe(signed), undefined, JSON.stringify(change));
  }
});

test('attack: memory filled by very many valid tokens: what is remembered has a bound', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const verifyJwt = createJwtVerifier(
    [{ ...publicKey.export({ format: 'jwk' }), kid: 'small', alg: 'RS256' }],
    issuer,
  );
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const head = encode({ alg: 'RS256', typ: 'at+jwt', kid: 'small' });
  const heapAfter = (count: number): number => {
    for (let n = 0; n < count; n += 1) {
      const signed = `${head}.${encode({ ...claims, jti: `token ${n} of ${count}`, sub: `user ${n} of ${count}` })}`;
      const jwt = `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
      assert.ok(verifyJwt(jwt));
    }
    if (typeof collect === 'function') collect();
    return process.memoryUsage().heapUsed;
  };
  // Enough to have both halves full, then twice as many, which took 8 MB without a bound.
  const full = heapAfter(10_000);
  const later = heapAfter(20_000);
  assert.ok(later - full < 5_000_000, `${later - full} bytes more`);
});
