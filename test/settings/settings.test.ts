// Runtime settings: validation, sharing, races.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { settingKeys, settingRow } from '../../src/model/settings/settings.ts';
import { createSettings, type Settings } from '../../src/settings/settings.ts';
import { settings as settingsDefinition } from '../../src/store/collections.ts';

const start = 1_800_000_000_000;
const sealer = createSealer(['test-secret-key-0123456789-0123456789']);

function memorySettings() {
  const time = { now: start };
  const clock = () => time.now;
  const collection = createMemoryStore({ clock }).collection(settingsDefinition);
  const create = (): Settings => createSettings({ collection, sealer, clock, stamp: () => undefined });
  return { time, collection, create, settings: create() };
}

/** Two processes on one file. */
async function withTwoProcesses(run: (one: Settings, two: Settings) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-settings-'));
  const clock = () => start;
  const stores = [1, 2].map(() => createSqliteStore({ file: join(directory, 'test.db'), clock }));
  const [one, two] = stores.map((store) =>
    createSettings({
      collection: store.collection(settingsDefinition),
      sealer,
      clock,
      stamp: () => store.stamp(),
    }),
  );
  try {
    assert.ok(one && two);
    await run(one, two);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await rm(directory, { recursive: true, force: true });
  }
}

const refusedWith =
  (code: ErrorCode, ...fields: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    assert.deepEqual(Object.keys(error.fields ?? {}).sort(), fields.sort());
    return true;
  };

test('settings: every default is valid, alone and together', async () => {
  const { settings } = memorySettings();
  const defaults: Record<string, unknown> = {};
  for (const key of settingKeys) {
    const { kind, absent } = settingRow(key);
    assert.deepEqual(kind.parse(absent), { value: absent }, key);
    defaults[key] = absent;
  }
  assert.deepEqual({ ...settings.current() }, defaults);
  assert.deepEqual(await settings.replaceAll(defaults, 'root'), []);
});

test('settings: documented defaults', () => {
  const { settings } = memorySettings();
  const values = settings.current();
  assert.deepEqual(
    [values.access_token_seconds, values.id_token_seconds, values.authorization_code_seconds],
    [900, 3600, 60],
  );
  assert.deepEqual([values.session_idle_seconds, values.session_absolute_seconds], [14_400, 2_592_000]);
  assert.deepEqual(
    [
      values.refresh_token_idle_seconds,
      values.refresh_token_absolute_seconds,
      values.refresh_token_grace_seconds,
    ],
    [2_592_000, 31_536_000, 10],
  );
  assert.deepEqual([values.lockout_threshold, values.lockout_seconds], [5, 900]);
  assert.deepEqual([values.password_min_length, values.require_pkce], [8, false]);
});

test('settings: a patch sets the given values and reports what changed', async () => {
  const { settings, time } = memorySettings();
  time.now += 5;
  const changes = await settings.patch(
    { product_name: ' Porter ', require_pkce: true, lockout_threshold: 5 },
    'root',
  );
  assert.deepEqual(changes, [
    { key: 'require_pkce', from: false, to: true },
    { key: 'product_name', from: 'Latchkey', to: 'Porter' },
  ]);
  assert.deepEqual([settings.current().product_name, settings.current().require_pkce], ['Porter', true]);
  const described = settings.describe().find(({ key }) => key === 'product_name');
  assert.deepEqual(described, {
    key: 'product_name',
    value: 'Porter',
    default: 'Latchkey',
    type: 'text',
    min: 1,
    max: 60,
    description: 'The name on the pages and in mails.',
    group: 'Branding',
    is_secret: false,
    updated_at: new Date(start + 5).toISOString(),
    updated_by: 'root',
  });
  const untouched = settings.describe().find(({ key }) => key === 'terms_url');
  assert.deepEqual([untouched?.updated_at, untouched?.updated_by], [null, null]);
});

test('settings: author and time of a change are kept per setting', async () => {
  const { settings, time } = memorySettings();
  await settings.patch({ product_name: 'One' }, 'alice');
  time.now += 1000;
  await settings.patch({ lockout_threshold: 7 }, 'bob');
  const byOf = (key: string) => settings.describe().find((setting) => setting.key === key)?.updated_by;
  assert.deepEqual([byOf('product_name'), byOf('lockout_threshold')], ['alice', 'bob']);
});

test('settings: a value that holds already keeps its author and time', async () => {
  const { settings, time } = memorySettings();
  await settings.patch({ product_name: 'One', lockout_threshold: 7 }, 'alice');
  const before = settings.describe();
  time.now += 1000;
  assert.deepEqual(await settings.replaceAll({ product_name: 'One', lockout_threshold: 7 }, 'bob'), []);
  assert.deepEqual(settings.describe(), before);
});

test('settings: replaceAll resets absent values to their defaults', async () => {
  const { settings, collection } = memorySettings();
  await settings.patch({ product_name: 'One', lockout_threshold: 7 }, 'root');
  await settings.replaceAll({ lockout_threshold: 9 }, 'root');
  assert.deepEqual([settings.current().product_name, settings.current().lockout_threshold], ['Latchkey', 9]);
  assert.deepEqual(Object.keys((await collection.find('current'))?.value.values ?? {}), [
    'lockout_threshold',
  ]);
});

test('settings: every error is reported at once and nothing changes', async () => {
  const { settings, collection } = memorySettings();
  const before = settings.current();
  await assert.rejects(
    settings.patch(
      {
        access_token_seconds: '900',
        lockout_threshold: 0,
        password_min_length: 7,
        require_pkce: 'yes',
        logo_url: 'x',
      },
      'root',
    ),
    refusedWith(
      'request.invalid',
      'access_token_seconds',
      'lockout_threshold',
      'password_min_length',
      'require_pkce',
      'logo_url',
    ),
  );
  await assert.rejects(
    settings.patch(
      { product_name: 'Good', no_such: 1, constructor: 1, toString: 2, lockout_seconds: -1 },
      'root',
    ),
    refusedWith('setting.unknown', 'no_such', 'constructor', 'toString', 'lockout_seconds'),
  );
  await assert.rejects(
    settings.patch(JSON.parse('{"__proto__": {"product_name": "x"}}'), 'root'),
    refusedWith('setting.unknown', '__proto__'),
  );
  assert.equal(settings.current(), before);
  assert.equal(await collection.find('current'), undefined);
});

test('settings: inconsistent values are refused, also against stored ones', async () => {
  const { settings } = memorySettings();
  await assert.rejects(
    settings.patch({ session_idle_seconds: 5000, session_absolute_seconds: 4999 }, 'root'),
    refusedWith('request.invalid', 'session_idle_seconds', 'session_absolute_seconds'),
  );
  await settings.patch({ session_idle_seconds: 100, session_absolute_seconds: 200 }, 'root');
  await assert.rejects(
    settings.patch({ session_idle_seconds: 201 }, 'root'),
    refusedWith('request.invalid', 'session_idle_seconds', 'session_absolute_seconds'),
  );
  assert.equal(settings.current().session_idle_seconds, 100);
});

test('attack: line breaks, scripts and hostile texts for headers, links and pages (R132)', async () => {
  const { settings } = memorySettings();
  const addresses = [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com',
    '//example.com',
    '/logo.png',
    'https://exa\r\nmple.com',
    'https://example.com/\r\nSet-Cookie: a=b',
    'https://example.com/a b',
    "https://example.com/';script-src *",
    'https://example.com/"onerror="x',
    'https://user:secret@example.com/',
    'https:\\\\example.com',
    'https://',
    `https://example.com/${'a'.repeat(2100)}`,
    7,
    ['https://example.com'],
  ];
  for (const address of addresses) {
    await assert.rejects(
      settings.patch({ support_url: address }, 'root'),
      refusedWith('request.invalid', 'support_url'),
    );
  }
  for (const name of ['', '   ', 'a\r\nb', 'a\0b', 'a\u202eb', 'a\u2028b', 'x'.repeat(61), 5]) {
    await assert.rejects(
      settings.patch({ product_name: name }, 'root'),
      refusedWith('request.invalid', 'product_name'),
    );
  }
  for (const accent of ['red', '#fff', '#12345g', '#123456;', 'url(x)']) {
    await assert.rejects(
      settings.patch({ accent_color: accent }, 'root'),
      refusedWith('request.invalid', 'accent_color'),
    );
  }
  for (const seconds of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e21, '60', true, [60]]) {
    await assert.rejects(
      settings.patch({ access_token_seconds: seconds }, 'root'),
      refusedWith('request.invalid', 'access_token_seconds'),
    );
  }
  await settings.patch(
    { support_url: 'https://example.com:8443/help?x=1#y', product_name: 'Zürich ID 🦊' },
    'root',
  );
  await settings.patch({ support_url: '' }, 'root');
});

test('settings: an invalid stored value never stops a start; its default applies (R132)', async () => {
  const { collection, create } = memorySettings();
  const entry = (value: unknown) => ({ value, at: start, by: 'root' });
  await collection.insert('current', {
    values: {
      lockout_threshold: entry('many'),
      product_name: entry('Porter'),
      logo_url: 'not even an entry',
      session_idle_seconds: entry(500),
      session_absolute_seconds: entry(400),
      of_a_later_release: entry(1),
    },
    model: 1,
    updatedAt: start,
    updatedBy: 'root',
  });
  const settings = create();
  await settings.refresh();
  const values = settings.current();
  assert.deepEqual([values.lockout_threshold, values.product_name, values.logo_url], [5, 'Porter', '']);
  assert.deepEqual([values.session_idle_seconds, values.session_absolute_seconds], [14_400, 2_592_000]);
  const reported = settings.problems().map((problem) => problem.split(':')[0]);
  assert.deepEqual(reported.sort(), [
    'lockout_threshold',
    'logo_url',
    'session_absolute_seconds',
    'session_idle_seconds',
  ]);
  // They stay and are told until they are changed themselves, and so does what a later release has stored.
  const stored = async (): Promise<string[]> =>
    Object.keys((await collection.find('current'))?.value.values ?? {}).sort();
  const before = await stored();
  await settings.patch({ lockout_seconds: 60 }, 'root');
  assert.equal(settings.problems().length, 4);
  assert.deepEqual(await stored(), ['lockout_seconds', ...before]);
  await settings.patch({ lockout_threshold: 7, logo_url: '', session_idle_seconds: 300 }, 'root');
  assert.deepEqual(settings.problems(), []);
  assert.equal(settings.current().session_idle_seconds, 300);
  await settings.replaceAll({ product_name: 'Porter' }, 'root');
  assert.deepEqual(await stored(), ['of_a_later_release', 'product_name']);
});

test('settings: frozen; a change creates new ones, so no request sees half of it', async () => {
  const { settings } = memorySettings();
  const before = settings.current();
  assert.throws(() => Object.assign(before, { lockout_threshold: 1 }), TypeError);
  await settings.patch({ lockout_threshold: 6, lockout_seconds: 61 }, 'root');
  assert.deepEqual([before.lockout_threshold, before.lockout_seconds], [5, 900]);
  assert.notEqual(settings.current(), before);
});

test('settings: parallel patches of different keys lose nothing, from the first write on', async () => {
  const { create } = memorySettings();
  const [one, two] = [create(), create()];
  await Promise.all([
    one.patch({ product_name: 'One' }, 'a'),
    two.patch({ lockout_threshold: 6 }, 'b'),
    one.patch({ lockout_seconds: 61 }, 'c'),
    two.patch({ require_pkce: true }, 'd'),
  ]);
  const three = create();
  await three.refresh();
  const { product_name, lockout_threshold, lockout_seconds, require_pkce } = three.current();
  assert.deepEqual([product_name, lockout_threshold, lockout_seconds, require_pkce], ['One', 6, 61, true]);
});

test('settings over two processes: effective at the next request, for one read', async () => {
  await withTwoProcesses(async (one, two) => {
    await Promise.all([one.refresh(), two.refresh()]);
    await one.patch({ product_name: 'Porter' }, 'root');
    assert.equal(one.current().product_name, 'Porter');
    assert.equal(two.current().product_name, 'Latchkey');
    await two.refresh();
    assert.equal(two.current().product_name, 'Porter');
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? one : two).patch(n % 2 ? { lockout_seconds: 60 + n } : { id_token_seconds: 60 + n }, 'x'),
      ),
    );
    await Promise.all([one.refresh(), two.refresh()]);
    assert.deepEqual(one.current(), two.current());
    assert.equal(one.current().product_name, 'Porter');
  });
});

test('settings refresh: reads only when stamped or due; parallel calls share one read', async () => {
  const { time, collection } = memorySettings();
  const count = { finds: 0 };
  const counted: typeof collection = {
    ...collection,
    find: (id) => {
      count.finds += 1;
      return collection.find(id);
    },
  };
  const mark: { stamp: number | undefined } = { stamp: 1 };
  const settings = createSettings({
    collection: counted,
    sealer,
    clock: () => time.now,
    stamp: () => mark.stamp,
    pollMs: 1000,
  });
  const many = () => Promise.all(Array.from({ length: 50 }, () => settings.refresh()));
  await many();
  assert.equal(count.finds, 1);
  time.now += 3_600_000;
  await many();
  assert.equal(count.finds, 1);
  mark.stamp = 2;
  await many();
  assert.equal(count.finds, 2);
  mark.stamp = undefined;
  time.now += 999;
  await many();
  assert.equal(count.finds, 2);
  time.now += 1;
  await many();
  assert.equal(count.finds, 3);
});

test('settings refresh: a read begun before a change does not restore old values', async () => {
  const { time, collection } = memorySettings();
  const gate: { hold: Promise<void> | undefined } = { hold: undefined };
  const slow: typeof collection = {
    ...collection,
    find: async (id) => {
      const { hold } = gate;
      const stored = await collection.find(id);
      await hold;
      return stored;
    },
  };
  const settings = createSettings({
    collection: slow,
    sealer,
    clock: () => time.now,
    stamp: () => undefined,
  });
  const opened = Promise.withResolvers<void>();
  gate.hold = opened.promise;
  const early = settings.refresh();
  gate.hold = undefined;
  const change = settings.patch({ product_name: 'New' }, 'root');
  setTimeout(opened.resolve, 20);
  await Promise.all([early, change]);
  assert.equal(settings.current().product_name, 'New');
});

test('settings refresh: a failure is reported, and the next one retries', async () => {
  const { collection, time } = memorySettings();
  const store = { isDown: true };
  const flaky: typeof collection = {
    ...collection,
    find: async (id) => {
      if (store.isDown) throw new Error('store is down');
      return collection.find(id);
    },
  };
  const settings = createSettings({ collection: flaky, sealer, clock: () => time.now, stamp: () => 1 });
  await assert.rejects(settings.refresh(), /down/);
  assert.equal(settings.current().lockout_threshold, 5);
  store.isDown = false;
  await settings.refresh();
});
