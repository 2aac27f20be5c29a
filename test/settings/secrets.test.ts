// Secret settings: sealed in the store, never returned, and handled when SECRET_KEY is lost or rotated.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { AppError } from '../../src/errors.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { createSettings, type Settings } from '../../src/settings/settings.ts';
import { settings as settingsDefinition } from '../../src/store/collections.ts';

const clock = () => 1_800_000_000_000;
const oldKey = 'old-secret-key-0123456789-0123456789';
const newKey = 'new-secret-key-0123456789-0123456789';
const secret = 'smtps://robot:hunter2-hunter2@mail.example.com';

function shared() {
  const collection = createMemoryStore({ clock }).collection(settingsDefinition);
  const open = async (...keys: string[]): Promise<Settings> => {
    const settings = createSettings({
      collection,
      sealer: createSealer(keys),
      clock,
      stamp: () => undefined,
    });
    await settings.refresh();
    return settings;
  };
  const stored = async (): Promise<Record<string, unknown>> =>
    (await collection.find('current'))?.value.values ?? {};
  return { collection, open, stored };
}

test('secret setting: sealed in the store, effective everywhere, never returned (R141)', async () => {
  const { open, stored } = shared();
  const one = await open(newKey);
  const changes = await one.patch({ smtp_url: secret, product_name: 'Porter' }, 'root');
  assert.doesNotMatch(JSON.stringify(await stored()), /hunter2|robot|mail\.example\.com/);
  assert.match(JSON.stringify(await stored()), /Porter/);
  assert.equal(one.current().smtp_url, secret);
  assert.equal((await open(newKey)).current().smtp_url, secret);
  assert.doesNotMatch(JSON.stringify([one.describe(), changes, one.problems()]), /hunter2|robot/);
  const described = one.describe().find(({ key }) => key === 'smtp_url');
  assert.deepEqual([described?.value, described?.is_secret, described?.updated_by], [null, true, 'root']);
});

test('secret setting: a refused one is not quoted, a cleared one is removed from the store', async () => {
  const { open, stored } = shared();
  const settings = await open(newKey);
  const refusal = await settings.patch({ smtp_url: 'smtps://robot:hunter2@a b' }, 'root').catch(String);
  assert.doesNotMatch(JSON.stringify(refusal), /hunter2/);
  await settings.patch({ smtp_url: secret }, 'root');
  await settings.patch({ smtp_url: '' }, 'root');
  assert.deepEqual(await stored(), {});
});

test('SECRET_KEY rotation: both open, and the next change seals with the newest', async () => {
  const { open } = shared();
  await (await open(oldKey)).patch({ smtp_url: secret }, 'root');
  const during = await open(newKey, oldKey);
  assert.equal(during.current().smtp_url, secret);
  await during.patch({ product_name: 'Porter' }, 'root');
  assert.equal((await open(newKey)).current().smtp_url, secret);
});

test('SECRET_KEY lost: the default applies and is reported; other changes keep the sealed text', async () => {
  const { open } = shared();
  await (await open(oldKey)).patch({ smtp_url: secret }, 'root');
  const without = await open(newKey);
  assert.equal(without.current().smtp_url, '');
  assert.match(without.problems().join(), /^smtp_url: .*SECRET_KEY/);
  await without.patch({ product_name: 'Porter' }, 'root');
  assert.equal((await open(oldKey)).current().smtp_url, secret);
  await without.patch({ smtp_url: '' }, 'root');
  assert.equal((await open(oldKey)).current().smtp_url, '');
});

test('secret setting: null clears it; named as kept, it stays, even if it cannot be opened', async () => {
  const { open } = shared();
  const settings = await open(newKey);
  await settings.patch({ smtp_url: secret, product_name: 'Porter' }, 'root');
  const kept = { kept: new Set(['smtp_url']) };
  await settings.replaceAll({}, 'root', kept);
  assert.deepEqual([settings.current().smtp_url, settings.current().product_name], [secret, 'Latchkey']);
  const without = await open(oldKey);
  assert.equal(without.current().smtp_url, '');
  await without.replaceAll({ product_name: 'Acme' }, 'root', kept);
  assert.equal((await open(newKey)).current().smtp_url, secret);
  await settings.refresh();
  const changes = await settings.patch({ smtp_url: null }, 'root');
  assert.deepEqual(changes, [{ key: 'smtp_url', from: null, to: null }]);
  assert.equal(settings.current().smtp_url, '');
  await settings.patch({ smtp_url: secret }, 'root');
  await settings.replaceAll({ product_name: 'Acme' }, 'root');
  assert.equal(settings.current().smtp_url, '');
});

test('attack: a plain secret, or one sealed for another setting, in the store', async () => {
  const { collection, open } = shared();
  const entry = (value: string) => ({ value, at: clock(), by: 'root' });
  const put = (value: string) =>
    collection.put('current', { values: { smtp_url: entry(value) }, updatedAt: clock(), updatedBy: 'root' });
  await put(secret);
  assert.equal((await open(newKey)).current().smtp_url, '');
  await put(createSealer([newKey]).seal('setting other', secret));
  assert.equal((await open(newKey)).current().smtp_url, '');
  await put(createSealer([newKey]).seal('setting smtp_url', secret));
  assert.equal((await open(newKey)).current().smtp_url, secret);
});

test('mail settings: a plain sender address and an SMTP address, otherwise refused (R121)', async () => {
  const { open } = shared();
  const settings = await open(newKey);
  for (const address of ['x', 'Ann <ann@example.com>', 'a@b.c,d@e.f', 'a@example.com\r\nBcc: b@c.d', 7]) {
    for (const key of ['mail_from', 'mail_reply_to'])
      await assert.rejects(settings.patch({ [key]: address }, 'root'), AppError, String(address));
  }
  for (const url of ['mail.example.com', 'http://mail.example.com', 'smtp://a b', 7])
    await assert.rejects(settings.patch({ smtp_url: url }, 'root'), AppError, String(url));
  await settings.patch({ mail_from: 'no-reply@example.com', mail_reply_to: '' }, 'root');
  assert.equal(settings.current().mail_from, 'no-reply@example.com');
});
