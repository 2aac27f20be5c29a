// Signing keys: created once, sealed, published.
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { calculateJwkThumbprint, createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { generateRsaKey } from '../../src/keys/rsa-key.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { createSigningKeys } from '../../src/keys/signing-keys.ts';
import { SigningKeyUnreadable } from '../../src/keys/stored-keys.ts';
import { type SigningKeyRecord, signingKeys } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';

const start = 1_800_000_000_000;
const secretKey = 'a-secret-key-of-the-tests-000000000000000000';
const otherKey = 'another-key-of-the-tests-0000000000000000000';

function world(options: { secretKeys?: string[] } = {}) {
  const time = { now: start };
  const clock = () => time.now;
  const store = createMemoryStore({ clock });
  const collection = store.collection(signingKeys);
  const create = (secretKeys = options.secretKeys ?? [secretKey]) =>
    createSigningKeys({ collection, sealer: createSealer(secretKeys), clock });
  return { time, collection, create, store };
}

test('signing key: the first is RSA-2048 or more, named by its thumbprint, and stays (R141)', async () => {
  const { create } = world();
  const keys = await create().load();
  const [shown] = keys.all;
  assert.ok(shown);
  assert.deepEqual(
    keys.all.map(({ kty, alg }) => [kty, alg]),
    [
      ['RSA', 'RS256'],
      ['EC', 'ES256'],
    ],
  );
  assert.equal(keys.current.kid, await calculateJwkThumbprint(shown));
  const { modulusLength = 0 } = createPublicKey({ key: shown, format: 'jwk' }).asymmetricKeyDetails ?? {};
  assert.ok(modulusLength >= 2048);
  assert.deepEqual(
    await create()
      .load()
      .then(({ current }) => current),
    keys.current,
  );
});

test('signing key: the JWKS verifies what the current keys sign', async () => {
  const keys = await world().create().load();
  for (const { kid, alg, privateJwk } of [keys.current, keys.currentEs256]) {
    const token = await new SignJWT({ sub: 'alice' })
      .setProtectedHeader({ alg, kid })
      .sign(await importJWK(privateJwk, alg));
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys.jwks().keys] }));
    assert.equal(payload.sub, 'alice');
  }
});

test('JWKS: public members only (R141)', async () => {
  const keys = await world().create().load();
  const members = {
    RSA: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    EC: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  };
  for (const jwk of keys.jwks().keys) assert.deepEqual(Object.keys(jwk).sort(), members[jwk.kty]);
});

test('signing key: nothing private is readable in the store (R143)', async () => {
  const { create, collection } = world();
  const { current, currentEs256 } = await create().load();
  const stored = JSON.stringify(await collection.find(current.kid));
  for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const) {
    assert.equal(stored.includes(current.privateJwk[name]), false, name);
  }
  assert.equal(stored.includes(currentEs256.privateJwk.d), false);
  assert.equal(stored.includes(current.privateJwk.n), true);
  assert.equal(stored.includes(currentEs256.privateJwk.x), true);
});

test('signing key: ten processes starting on an empty file agree on one key (R141)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-keys-'));
  const clock = () => start;
  const stores: Store[] = [];
  // Generating is not the point here, and ten times RSA takes its time: a few keys, one for each process.
  const pool = await Promise.all([generateRsaKey(), generateRsaKey(), generateRsaKey()]);
  try {
    const sets = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const store = createSqliteStore({ file: join(directory, 'test.db'), clock });
        stores.push(store);
        const collection = store.collection(signingKeys);
        const generate = async () => pool[n % pool.length] ?? {};
        return createSigningKeys({ collection, sealer: createSealer([secretKey]), clock, generate }).load();
      }),
    );
    assert.equal(new Set(sets.map(({ current }) => current.kid)).size, 1);
    assert.equal(new Set(sets.map(({ all }) => JSON.stringify(all))).size, 1);
    assert.equal(sets[0]?.all.length, 2);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await rm(directory, { recursive: true, force: true });
  }
});

test('SECRET_KEY changed: an error says what to do, and no new key is created', async () => {
  const { create, collection } = world();
  const { current } = await create().load();
  await assert.rejects(create([otherKey]).load(), (error) => {
    assert.ok(error instanceof SigningKeyUnreadable);
    assert.match(error.message, /SECRET_KEY=new,old/);
    assert.equal(error.message.includes(otherKey), false);
    return true;
  });
  assert.equal((await collection.query({ sort: 'id', order: 'asc', limit: 10 })).total, 1);
  assert.equal((await create().load()).current.kid, current.kid);
});

test('SECRET_KEY rotation: with both listed the keys are resealed, then the old one may go', async () => {
  const { create } = world();
  const { current, currentEs256 } = await create().load();
  assert.deepEqual((await create([otherKey, secretKey]).load()).current, current);
  const after = await create([otherKey]).load();
  assert.deepEqual([after.current, after.currentEs256], [current, currentEs256]);
  await assert.rejects(create([secretKey]).load(), SigningKeyUnreadable);
});

test('attack: the sealed half of one key in the document of another', async () => {
  const { create, collection } = world();
  const { current } = await create().load();
  const mine = await collection.find(current.kid);
  assert.ok(mine);
  await collection.remove(mine.id);
  const other = await create().load();
  await collection.put(other.current.kid, {
    ...mine.value,
    publicJwk: { ...other.all[0] },
  });
  await assert.rejects(create().load(), /damaged/);
});

test('attack: the sealed ES256 key of one document in another', async () => {
  const { create, collection } = world();
  const { current } = await create().load();
  const mine = await collection.find(current.kid);
  const { es256 } = mine?.value ?? {};
  assert.ok(mine && es256);
  await collection.remove(mine.id);
  const other = await create().load();
  const theirs = await collection.find(other.current.kid);
  assert.ok(theirs?.value.es256);
  const { publicJwk } = theirs.value.es256;
  await collection.replace(theirs.id, theirs.version, { ...theirs.value, es256: { ...es256, publicJwk } });
  await assert.rejects(create().load(), /damaged/);
});

test('JWKS: includes next and retired keys, retired ones until they expire', async () => {
  const { create, collection, time } = world();
  const first = await create().load();
  const stored = await collection.find(first.current.kid);
  assert.ok(stored);
  const retired: SigningKeyRecord = { ...stored.value, state: 'retired', retiredAt: start };
  await collection.replace(stored.id, stored.version, retired, { expiresAt: start + 1000 });
  time.now += 10;
  const second = await create().load();
  assert.notEqual(second.current.kid, first.current.kid);
  assert.deepEqual(
    second.jwks().keys.map(({ kid }) => kid),
    [second.current.kid, first.current.kid, second.currentEs256.kid, first.currentEs256.kid],
  );
  time.now += 1000;
  assert.deepEqual(
    (await create().load()).all.map(({ kid }) => kid),
    [second.current.kid, second.currentEs256.kid],
  );
});

test('interrupted rotation: the next key becomes current in every process', async () => {
  const { create, collection } = world();
  const first = await create().load();
  const stored = await collection.find(first.current.kid);
  assert.ok(stored);
  await collection.replace(stored.id, stored.version, { ...stored.value, state: 'next' });
  const sets = await Promise.all([create().load(), create().load(), create().load()]);
  assert.deepEqual(new Set(sets.map(({ current }) => current.kid)), new Set([first.current.kid]));
  assert.equal((await collection.query({ sort: 'id', order: 'asc', limit: 10 })).total, 1);
});
