// Audit details contain no secret by any name, depth or form, and stay small.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf, withoutSecrets } from '../../src/audit/details.ts';

const CANARY = 'canary-7f3a9b';

test('attack: a secret under each of its names', () => {
  const names = [
    'password',
    'passwordHash',
    'new_password',
    'client_secret',
    'clientSecret',
    'secrets',
    'access_token',
    'refreshToken',
    'registration_access_token',
    'code',
    'user_code',
    'recoveryCodes',
    'otp',
    'client_assertion',
    'set-cookie',
    'Authorization',
    'sealedSecret',
    'sealed_private_jwk',
    'private_key',
    'api-key',
    'id_token',
    'csrf',
    'code_verifier',
  ];
  for (const name of names) {
    const details = {
      kept: 'yes',
      [name]: CANARY,
      deep: [{ [name]: { any: CANARY } }, { [name]: [CANARY] }],
    };
    const cleaned = JSON.stringify(withoutSecrets(details));
    assert.ok(!cleaned.includes(CANARY), `${name}: ${cleaned}`);
    assert.ok(cleaned.includes('"kept":"yes"'), name);
  }
});

test('attack: secrets inside texts', () => {
  const texts = [
    `smtp://user:${CANARY}@mail.example.com:25`,
    `Bearer ${CANARY}`,
    `Authorization: Basic ${CANARY}==`,
    `eyJhbGciOi.${CANARY}payload.${CANARY}`,
    `${'x'.repeat(500)} eyJhbGciOi.${CANARY}${'y'.repeat(1000)}.${CANARY}`,
  ];
  for (const text of texts) {
    const cleaned = JSON.stringify(withoutSecrets({ note: text, list: [text], [text]: 1 }));
    assert.ok(!cleaned.includes(CANARY), cleaned);
  }
});

test('attack: private members of a key', () => {
  const jwk = {
    kty: 'RSA',
    n: 'modulus',
    e: 'AQAB',
    d: CANARY,
    p: CANARY,
    q: CANARY,
    dp: CANARY,
    dq: CANARY,
  };
  const cleaned = withoutSecrets({ jwks: { keys: [jwk, { kty: 'oct', k: CANARY }] } });
  assert.deepEqual(cleaned, { jwks: { keys: [{ kty: 'RSA', n: 'modulus', e: 'AQAB' }, { kty: 'oct' }] } });
});

test('audit details: times, amounts, methods and switches that resemble secrets stay', () => {
  const details = {
    password_changed_at: '2026-01-31T12:00:00.000Z',
    access_token_seconds: 900,
    password_min_length: 8,
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    require_pkce: true,
    totp_verified: false,
    id_token_signed_response_alg: 'RS256',
    fields: ['password', 'email'],
    client_secret: null,
    key: 'name',
  };
  assert.deepEqual(withoutSecrets(details), details);
});

test('attack: endless details', () => {
  const cyclicDepth: Record<string, unknown> = {};
  cyclicDepth.self = cyclicDepth;
  const details = {
    text: 'a'.repeat(1_000_000),
    list: Array.from({ length: 10_000 }, (_, index) => index),
    members: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, index])),
    cyclicDepth,
    act: () => undefined,
    big: 1n,
  };
  const cleaned = withoutSecrets(details);
  assert.ok(JSON.stringify(cleaned).length < 17_000);
  const many = withoutSecrets(
    Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`n${index}`, 'b'.repeat(500)])),
  );
  assert.equal(many.is_shortened, true);
  assert.ok(JSON.stringify(many).length < 17_000);
});

test('audit difference: changed values only, before and after', () => {
  const before = { username: 'alice', role: 'user', list: ['a'], gone: 1 };
  const after = { username: 'alice', role: 'admin', list: ['a'], come: 2 };
  assert.deepEqual(differenceOf(before, after), {
    before: { role: 'user', gone: 1, come: null },
    after: { role: 'admin', gone: null, come: 2 },
  });
  assert.equal(differenceOf(before, { ...before, list: ['a'] }), undefined);
});
