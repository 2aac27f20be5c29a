// How people are found by what someone types of their name, in every script; and the same on the embedded store's index.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { accounts } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { foldForSearch, searchedText, searchWords } from '../../src/store/search-text.ts';
import { temporaryDirectory } from './sqlite-support.ts';

const found = (typed: string, ...texts: string[]): boolean => {
  const text = searchedText(texts) ?? '';
  return searchWords(typed).every((word) => text.includes(word));
};

const same: readonly (readonly [typed: string, name: string])[] = [
  ['zoe', 'Zoë Ångström'],
  ['ZOË', 'zoe'],
  ['angstrom zoe', 'Zoë Ångström'],
  ['zoe\u0308', 'Zoë'],
  ['strasse', 'Straße'],
  ['STRAẞE', 'strasse'],
  ['istanbul', 'İSTANBUL'],
  ['ISIK', 'Işık'],
  ['soren lodz', 'Søren Łódź'],
  ['obrien', 'O’Brien'],
  ["o'brien", 'O’Brien'],
  ['егор', 'ЁЖИК Егор'],
  ['ежик', 'Ёжик'],
  ['οδος', 'ΟΔΌΣ'],
  ['احمد', 'أَحْمَد'],
  ['فاطمه', 'فاطمة'],
  ['علي', 'على'],
  ['山', '山田太郎'],
  ['田太', '山田太郎'],
  ['やまだ', 'ヤマダ'],
  ['가나', '김가나'],
  ['ｔａｎａｋａ', 'tanaka'],
  ['דניאל', 'דָּנִיֵּאל'],
  ['हिन्दी', 'हिन्दी'],
  ['co\u200bop', 'coop'],
];

const different: readonly (readonly [typed: string, name: string])[] = [
  ['zoe smith', 'Zoë Ångström'],
  ['か', 'が'],
  ['山太', '山田太郎'],
  ['हा', 'हि'],
  ['\u0301\u0000', 'Zoë'],
];

test('search: names are found without case and accents, in every script', () => {
  for (const [typed, name] of same) ok(found(typed, name), `${typed} finds ${name}`);
  for (const [typed, name] of different) ok(!found(typed, name), `${typed} does not find ${name}`);
});

test('search: folding is idempotent, and a word within another is stored once', () => {
  for (const [typed, name] of same)
    for (const text of [typed, name]) equal(foldForSearch(foldForSearch(text)), foldForSearch(text), text);
  equal(searchedText(['ada', 'Ada Lovelace', 'ada@example.com', undefined]), 'lovelace ada@example.com');
  equal(searchedText([' ', undefined]), undefined);
  equal(searchWords(Array.from({ length: 50 }, (_, n) => `w${n}`).join(' ')).length, 8);
});

const people = ['山田 太郎', 'Ёжик Егор', 'Zoë Ångström', 'Ada Lovelace', 'أَحْمَد'];

async function namesFound(store: Store, typed: string): Promise<(string | undefined)[]> {
  const filters = searchWords(typed).map((value) => ({ field: 'names', op: 'contains', value }) as const);
  const { items } = await store
    .collection(accounts)
    .query({ filters, sort: 'name', order: 'asc', limit: 10 });
  return items.map(({ value }) => value.profile.name);
}

test('search: the stores agree on who is found, whatever their index', async () => {
  const directory = await temporaryDirectory();
  const clock = Date.now;
  const file = `${directory.path}/names.db`;
  for (const store of [createSqliteStore({ file, clock }), createMemoryStore({ clock })]) {
    for (const [n, name] of people.entries()) {
      const username = `user${n}`;
      await store.collection(accounts).insert(username, {
        username,
        usernameKey: username,
        isEmailVerified: false,
        role: 'user',
        isActive: true,
        failedLoginAttempts: 0,
        lockCount: 0,
        totpVerified: false,
        profile: { name },
        createdAt: n,
        updatedAt: n,
      });
    }
    deepEqual(await namesFound(store, '郎'), ['山田 太郎']);
    deepEqual(await namesFound(store, '太郎 山田'), ['山田 太郎']);
    deepEqual(await namesFound(store, 'ЕЖИК'), ['Ёжик Егор']);
    deepEqual(await namesFound(store, 'angst'), ['Zoë Ångström']);
    deepEqual(await namesFound(store, 'احمد'), ['أَحْمَد']);
    deepEqual(await namesFound(store, 'a_a'), []);
    deepEqual(await namesFound(store, 'user'), [
      'Ada Lovelace',
      'Zoë Ångström',
      'Ёжик Егор',
      'أَحْمَد',
      '山田 太郎',
    ]);
    await store.close();
  }
  await directory.remove();
});

test('search: what is only searched cannot be sorted or compared', async () => {
  const store = createMemoryStore({ clock: Date.now });
  const all = store.collection(accounts);
  const page = { order: 'asc', limit: 1 } as const;
  for (const query of [
    { ...page, sort: 'names' },
    { ...page, sort: 'name', filters: [{ field: 'names', op: 'eq', value: 'ada' } as const] },
  ])
    await all.query(query).then(
      () => ok(false),
      (error) => ok(error instanceof TypeError),
    );
  await store.close();
});
