// The passkey domain apart from its ceremonies over HTTP (test/attacks): factors, names, crashes and races.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { toAccount } from '../../src/accounts/account.ts';
import { blankAccount } from '../../src/accounts/changes.ts';
import { hasSecondFactor, securityState, wantsSecondStep } from '../../src/accounts/security-state.ts';
import { AppError } from '../../src/errors.ts';
import { labelOf } from '../../src/passkeys/label.ts';
import { authenticatorName } from '../../src/passkeys/names.ts';
import { createAccountPasskeys } from '../../src/passkeys/passkeys.ts';
import { createRelyingParty } from '../../src/passkeys/relying-party.ts';
import type { AuthMode } from '../../src/settings/auth-mode.ts';
import { accounts as accountCollection } from '../../src/store/collections.ts';
import { passkeyChallenges, passkeys as passkeyCollection } from '../../src/store/passkeys.ts';
import { Authenticator, type Traits } from '../support/authenticator.ts';

const BASE_URL = 'https://id.example.com/auth';

async function createWorld() {
  const clock = () => world.now;
  const store = createMemoryStore({ clock: () => clock() });
  const challenges = store.ephemeral(passkeyChallenges);
  const world = { now: Date.UTC(2026, 5, 1), challenges };
  const accounts = store.collection(accountCollection);
  const collection = store.collection(passkeyCollection);
  const passkeys = createAccountPasskeys({
    accounts,
    collection,
    challenges,
    clock,
    baseUrl: BASE_URL,
    extraOrigins: () => 'https://example.net https://example.org',
    rpName: () => 'Latchkey',
  });
  const add = async (id: string, fields = {}) => {
    const record = { ...blankAccount(world.now), username: id, usernameKey: id, ...fields };
    return toAccount(await accounts.insert(id, record));
  };
  const read = async (id: string) => {
    const stored = await accounts.find(id);
    assert.ok(stored);
    return toAccount(stored);
  };
  const make = async (id: string, traits: Partial<Traits> & { rk?: boolean } = {}) => {
    const key = new Authenticator({ origin: 'https://id.example.com', ...traits });
    const options = await passkeys.registration.begin({ account: await read(id), boundTo: 'here' });
    const credential = key.create(options);
    const response = { ...credential, clientExtensionResults: { credProps: { rk: traits.rk ?? true } } };
    await passkeys.registration.finish({ accountId: id, boundTo: 'here', response, label: 'New' });
    return key;
  };
  const use = async (key: Authenticator) =>
    passkeys.assertion.finish({
      boundTo: 'here',
      response: key.get(await passkeys.assertion.begin({ boundTo: 'here' })),
    });
  return { world, accounts, collection, passkeys, add, read, make, use };
}

const refusal = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
const idOf = (key: Authenticator): string => key.keys[0]?.id ?? '';

test('RP id: the host of BASE_URL; origins are compared whole', () => {
  const party = createRelyingParty(BASE_URL, () => '');
  assert.equal(party.rpId, 'id.example.com');
  assert.deepEqual(party.origins(), ['https://id.example.com']);
  assert.deepEqual(createRelyingParty('http://localhost:3000', () => 'https://a.example').origins(), [
    'http://localhost:3000',
    'https://a.example',
  ]);
});

test('passkey name: one short line', () => {
  assert.equal(labelOf('  my \u0000\u202e phone\n '), 'my phone');
  assert.equal(labelOf(' \u200b '), undefined);
  assert.equal(Array.from(labelOf('🔑'.repeat(200)) ?? '').length, 60);
  assert.equal(authenticatorName('bada5566-a7aa-401f-bd96-45619a55120d'), '1Password');
  assert.equal(authenticatorName('00000000-0000-0000-0000-000000000000'), undefined);
});

test('passkeys: several, each with its details; a new one voids what relied on the old state', async () => {
  const { world, passkeys, add, read, make, use } = await createWorld();
  const before = await add('ada');
  const first = await make('ada', { isSynced: true });
  world.now += 1000;
  await make('ada');
  const after = await read('ada');
  assert.notEqual(securityState('ada', before), securityState('ada', after));
  world.now += 1000;
  const used = await use(first);
  assert.deepEqual([used.account.id, used.isUserVerified, used.deviceType], ['ada', true, 'multiDevice']);
  const [second, oldest] = await passkeys.list(after);
  assert.deepEqual([second?.isSynced, oldest?.isSynced, oldest?.isBackedUp], [false, true, true]);
  assert.equal(oldest?.lastUsedAt, world.now);
  assert.equal(second?.lastUsedAt, undefined);
  assert.deepEqual(
    [...passkeys.signals(after).acceptedIds].sort(),
    after.passkeys?.map(({ id }) => id).sort(),
  );
  assert.equal(Buffer.from(passkeys.signals(after).userId, 'base64url').toString(), 'ada');
});

test('passkey as a factor: without user verification or discovery it is a second step', async () => {
  const { add, read, make } = await createWorld();
  for (const [id, traits, isStep] of [
    ['verified', {}, false],
    ['unverified', { canVerifyUser: false }, true],
    ['synced', { canVerifyUser: false, isSynced: true }, false],
    ['hidden', { rk: false }, true],
  ] as const) {
    await add(id);
    await make(id, traits);
    const account = await read(id);
    assert.deepEqual([hasSecondFactor(account), wantsSecondStep(account)], [true, isStep], id);
  }
});

test('last sign-in method: cannot be removed', async () => {
  const { passkeys, add, make } = await createWorld();
  const cases: [string, object, AuthMode, boolean][] = [
    ['with-password', { passwordHash: 'x' }, 'password_and_passkey', true],
    ['password-off', { passwordHash: 'x' }, 'passkey_only', false],
    ['without-password', {}, 'password_and_passkey', false],
  ];
  for (const [id, fields, mode, mayGo] of cases) {
    await add(id, fields);
    const key = await make(id);
    const removal = passkeys.remove(id, idOf(key), { mode });
    if (mayGo) await removal;
    else await assert.rejects(removal, refusal('passkey.last'), id);
  }
  // A security key lets no one in by itself.
  await add('key-left');
  const good = await make('key-left');
  await make('key-left', { canVerifyUser: false });
  await assert.rejects(
    passkeys.remove('key-left', idOf(good), { mode: 'password' }),
    refusal('passkey.last'),
  );
  await passkeys.remove('key-left', idOf(good), { mode: 'password', mayLeaveNoWayIn: true });
});

test('recovery codes: removed with the last factor', async () => {
  const { accounts, passkeys, add, read, make } = await createWorld();
  await add('ada', { passwordHash: 'x' });
  const [one, two] = [await make('ada'), await make('ada')];
  const { id, version, ...record } = await read('ada');
  await accounts.replace(id, version, { ...record, recoveryCodes: ['digest'] });
  await passkeys.remove('ada', idOf(one), { mode: 'password_and_passkey' });
  assert.deepEqual((await read('ada')).recoveryCodes, ['digest']);
  await passkeys.remove('ada', idOf(two), { mode: 'password_and_passkey' });
  assert.equal((await read('ada')).recoveryCodes, undefined);
});

test('credential id of another account: the same reads and writes as for an unknown one', async () => {
  const { accounts, collection, world, add, passkeys, make, read } = await createWorld();
  await add('ada');
  const id = idOf(await make('ada'));
  const acts: string[] = [];
  const watched = createAccountPasskeys({
    accounts,
    collection: {
      ...collection,
      find: (key) => {
        acts.push('find');
        return collection.find(key);
      },
      insert: (key, value, options) => {
        acts.push('insert');
        return collection.insert(key, value, options);
      },
    },
    challenges: world.challenges,
    clock: () => world.now,
    baseUrl: BASE_URL,
    extraOrigins: () => '',
    rpName: () => 'Latchkey',
  });
  const actsOf = async (name: string, credential: string): Promise<string[]> => {
    await add(name);
    const key = new Authenticator({ origin: 'https://id.example.com' });
    const options = await watched.registration.begin({ account: await read(name), boundTo: 'here' });
    const response = key.create(options, { id: credential });
    acts.length = 0;
    await watched.registration.finish({ accountId: name, boundTo: 'here', response });
    return [...acts];
  };
  const unknown = await actsOf('bob', Buffer.alloc(16, 1).toString('base64url'));
  assert.deepEqual(unknown, ['find', 'find', 'insert']);
  assert.deepEqual(await actsOf('eve', id), unknown);
  assert.deepEqual(
    (await passkeys.list(await read('eve'))).map((one) => one.id),
    [id],
  );
  await passkeys.rename(await read('eve'), id, 'Mine');
  assert.deepEqual(
    [...(await passkeys.list(await read('ada'))), ...(await passkeys.list(await read('eve')))].map(
      ({ label }) => label,
    ),
    ['New', 'Mine'],
  );
  await passkeys.sweep('eve');
  assert.equal((await collection.findBy('account', 'eve')).length, 1);
});

test('attack: one credential id registered by twenty accounts at once: each has its own', async () => {
  const { add, read, collection, passkeys } = await createWorld();
  const id = Buffer.alloc(16, 9).toString('base64url');
  const names = Array.from({ length: 20 }, (_, at) => `user-${at}`);
  await Promise.all(
    names.map(async (name) => {
      await add(name);
      const key = new Authenticator({ origin: 'https://id.example.com' });
      const options = await passkeys.registration.begin({ account: await read(name), boundTo: 'here' });
      const response = key.create(options, { id });
      await passkeys.registration.finish({ accountId: name, boundTo: 'here', response });
    }),
  );
  for (const name of names) {
    assert.equal((await collection.findBy('account', name)).length, 1, name);
    assert.deepEqual(
      (await passkeys.list(await read(name))).map((one) => one.id),
      [id],
    );
  }
});

test('orphaned passkey record: does not count, and is swept', async () => {
  const { accounts, collection, passkeys, add, read, make, use } = await createWorld();
  await add('ada');
  const key = await make('ada');
  const { id, version, passkeys: _named, ...record } = await read('ada');
  await accounts.replace(id, version, record);
  await assert.rejects(use(key), refusal('passkey.unknown'));
  assert.deepEqual(await passkeys.list(await read('ada')), []);
  assert.ok(await collection.find(idOf(key)));
  await passkeys.sweep('ada');
  assert.equal(await collection.find(idOf(key)), undefined);
});

test('attack: fifty passkeys for one account', async () => {
  const { add, make, read, collection } = await createWorld();
  await add('ada');
  const all = await Promise.allSettled(Array.from({ length: 50 }, () => make('ada')));
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 25);
  assert.equal((await read('ada')).passkeys?.length, 25);
  assert.equal((await collection.findBy('account', 'ada')).length, 25);
});

test('account removal: removes its passkeys and challenges', async () => {
  const { collection, passkeys, add, make, read } = await createWorld();
  await add('ada');
  const key = await make('ada');
  await passkeys.registration.begin({ account: await read('ada'), boundTo: 'here' });
  await passkeys.removeAllOf('ada');
  assert.equal(await collection.find(idOf(key)), undefined);
});
