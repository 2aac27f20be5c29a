// Trusted browsers: whose they are, and everything that ends the trust (R100).
import assert from 'node:assert/strict';
import { createTrustedDevices } from '../../src/second-factors/trusted-devices.ts';
import { trustedDevices as devicesDefinition } from '../../src/store/collections.ts';
import { type Backend, goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactorWorld, timesOf } from './support.ts';

const DAYS = 86_400_000;
const browser = { ipAddress: '192.0.2.7', userAgent: 'Mozilla/5.0', label: 'Firefox on Linux' };

async function createDeviceWorld(backend: Backend) {
  const world = await createFactorWorld(backend);
  const secret = await world.enrolTotp();
  const { create, check } = world.factors.trustedDevices;
  return {
    ...world,
    secret,
    devices: world.factors.trustedDevices,
    trust: async () => (await create({ account: await world.current(), ...browser })).token,
    isTrusted: async (token: string) => check(await world.current(), token),
  };
}

withEachStore('trusted browser: known in every process, listed, and renewed at use', async (backend) => {
  const { devices, elsewhere, trust, isTrusted, current } = await createDeviceWorld(backend);
  const token = await trust();
  assert.ok(Buffer.from(token, 'base64url').length >= 32);
  assert.equal(await isTrusted(token), true);
  assert.equal(await elsewhere.trustedDevices.check(await current(), token), true);
  backend.advance(29 * DAYS);
  const other = await trust();
  assert.equal(await isTrusted(token), true);
  backend.advance(29 * DAYS);
  assert.equal(await isTrusted(token), true);
  const [first, second, ...more] = await devices.list(await current());
  assert.deepEqual(more, []);
  assert.deepEqual(
    { ...first, id: '' },
    {
      ...browser,
      id: '',
      createdAt: backend.now() - 58 * DAYS,
      lastUsedAt: backend.now(),
      expiresAt: backend.now() + 30 * DAYS,
    },
  );
  assert.equal(second?.lastUsedAt, backend.now() - 29 * DAYS);
  assert.equal(await isTrusted(other), true);
});

withEachStore('attack: a trust token after 30 days without use, to the millisecond', async (backend) => {
  const { trust, isTrusted } = await createDeviceWorld(backend);
  const [used, unused] = [await trust(), await trust()];
  backend.advance(30 * DAYS - 1);
  assert.equal(await isTrusted(used), true);
  backend.advance(1);
  assert.equal(await isTrusted(unused), false);
  assert.equal(await isTrusted(used), true);
});

withEachStore('attack: the trust cookie of one user in the sign-in of another', async (backend) => {
  const world = await createDeviceWorld(backend);
  const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
  await world.enrolTotp(bob.id);
  const bobNow = await world.accounts.find(bob.id);
  assert.ok(bobNow);
  const token = await world.trust();
  const before = await world.devices.list(await world.current());
  backend.advance(1000);
  assert.equal(await world.devices.check(bobNow, token), false);
  // Neither is it renewed by the attempt.
  assert.deepEqual(await world.devices.list(await world.current()), before);
  // Attack: someone who can write to the database gives Bob the device of an account that he knows.
  const store = backend.store.collection(devicesDefinition);
  const [device] = await store.findBy('account', world.id);
  assert.ok(device);
  await store.put(device.id, { ...device.value, accountId: bob.id });
  assert.equal(await world.devices.check(bobNow, token), false);
});

for (const [what, change] of [
  ['the password changed', (w) => w.accounts.changeAccountAsAdmin(w.id, { password: 'nine low bridges' })],
  [
    'an administrator reset the second factor',
    (w) => w.accounts.changeAccountAsAdmin(w.id, { totp_verified: false }),
  ],
  ['the authenticator was removed', (w) => w.factors.totp.remove(w.id)],
  ['another factor was added', (w) => w.enableEmail()],
  ['the e-mail address changed', (w) => w.accounts.changeAccountAsAdmin(w.id, { email: 'new@example.com' })],
  ['the user became an administrator', (w) => w.accounts.changeAccountAsAdmin(w.id, { role: 'admin' })],
  [
    'the account was off for a while',
    async (w) => {
      await w.accounts.changeAccountAsAdmin(w.id, { is_active: false });
      await w.accounts.changeAccountAsAdmin(w.id, { is_active: true });
    },
  ],
] as const satisfies readonly [
  string,
  (world: Awaited<ReturnType<typeof createDeviceWorld>>) => Promise<unknown>,
][]) {
  withEachStore(`attack: a trust token from before ${what}, in the same millisecond`, async (backend) => {
    const world = await createDeviceWorld(backend);
    // Someone who had already stolen it, with the account as it was.
    const token = await world.trust();
    assert.equal(await world.isTrusted(token), true);
    await change(world);
    assert.equal(await world.isTrusted(token), false);
    assert.deepEqual(await world.devices.list(await world.current()), []);
    assert.equal(await world.isTrusted(await world.trust()), true);
  });
}

withEachStore('attack: restoring the previous state; void trust stays void', async (backend) => {
  const { accounts, factors, id, trust, isTrusted, enrolTotp, enableEmail } =
    await createDeviceWorld(backend);
  await enableEmail();
  const token = await trust();
  await accounts.changeAccountAsAdmin(id, { email: 'thief@example.com', is_email_verified: true });
  await accounts.changeAccountAsAdmin(id, { email: 'alice@example.com', is_email_verified: true });
  assert.equal(await isTrusted(token), false);
  const second = await trust();
  await factors.setEmailFactor(id, false);
  await factors.setEmailFactor(id, true);
  assert.equal(await isTrusted(second), false);
  const third = await trust();
  await accounts.changeAccountAsAdmin(id, { totp_verified: false });
  await enrolTotp();
  await enableEmail();
  assert.equal(await isTrusted(third), false);
});

withEachStore('trusted browser: changes unrelated to security keep the trust', async (backend) => {
  const { accounts, authenticate, factors, id, secret, trust, isTrusted } = await createDeviceWorld(backend);
  const token = await trust();
  await accounts.changeAccountAsAdmin(id, { name: 'Alice', username: 'alice2' });
  for (let n = 0; n < 5; n += 1) await authenticate('alice2', 'wrong');
  await accounts.unlock(id);
  assert.ok(await authenticate('alice2', goodPassword));
  await factors.recoveryCodes.generate(id);
  await factors.totp.verify({ accountId: id, boundTo: 'a', code: secret.slice(0, 6) });
  assert.equal(await isTrusted(token), true);
});

withEachStore('attack: a revoked trust token, and revoking another user’s device', async (backend) => {
  const world = await createDeviceWorld(backend);
  const { devices, id } = world;
  const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
  const [token, other] = [await world.trust(), await world.trust()];
  const [listed] = await devices.list(await world.current());
  assert.ok(listed);
  assert.equal(await devices.revoke(bob.id, listed.id), false);
  assert.equal(await devices.revoke(id, 'nothing'), false);
  assert.deepEqual([await world.isTrusted(token), await world.isTrusted(other)], [true, true]);
  assert.equal(await devices.revoke(id, listed.id), true);
  assert.equal(await devices.revoke(id, listed.id), false);
  const left = [await world.isTrusted(token), await world.isTrusted(other)];
  assert.equal(timesOf(left, true), 1);
  assert.equal(await devices.revokeAll(bob.id), 0);
  assert.equal(await devices.revokeAll(id), 1);
  assert.deepEqual([await world.isTrusted(token), await world.isTrusted(other)], [false, false]);
});

withEachStore('attack: a trust token used while it is revoked; it ends revoked', async (backend) => {
  const { devices, elsewhere, id, trust, isTrusted, current } = await createDeviceWorld(backend);
  const account = await current();
  for (let round = 0; round < 10; round += 1) {
    const token = await trust();
    await Promise.all([
      ...Array.from({ length: 5 }, () => elsewhere.trustedDevices.check(account, token)),
      devices.revokeAll(id),
      ...Array.from({ length: 5 }, () => devices.check(account, token)),
    ]);
    assert.equal(await isTrusted(token), false);
    assert.deepEqual(await devices.list(account), []);
  }
});

withEachStore('attack: trust revoked between its check and its renewal', async (backend) => {
  const { trust, current } = await createDeviceWorld(backend);
  const token = await trust();
  const collection = backend.store.collection(devicesDefinition);
  const devices = createTrustedDevices({
    collection: {
      ...collection,
      find: (id) => collection.find(id),
      insert: (id, value, options) => collection.insert(id, value, options),
      replace: async (id, version, value, options) => {
        await collection.remove(id);
        return collection.replace(id, version, value, options);
      },
    },
    clock: backend.now,
    settings: () => ({ trusted_device_seconds: 60 }),
  });
  assert.equal(await devices.check(await current(), token), false);
});

withEachStore('attack: the digest of a copied database, or garbage, as the trust token', async (backend) => {
  const { devices, trust, isTrusted, current } = await createDeviceWorld(backend);
  const token = await trust();
  const [listed] = await devices.list(await current());
  assert.equal(JSON.stringify(listed).includes(token), false);
  for (const wrong of [
    listed?.id ?? '',
    '',
    token.slice(1),
    `${token}A`,
    token.toUpperCase(),
    'A'.repeat(1_000_000),
  ]) {
    assert.equal(await isTrusted(wrong), false);
  }
});

withEachStore('trusted browser: browser texts are truncated', async (backend) => {
  const { devices, current } = await createDeviceWorld(backend);
  const account = await current();
  await devices.create({
    account,
    ipAddress: '::1',
    userAgent: 'U'.repeat(100_000),
    label: 'L'.repeat(100_000),
  });
  const [listed] = await devices.list(account);
  assert.deepEqual([listed?.userAgent.length, listed?.label.length], [512, 100]);
});
