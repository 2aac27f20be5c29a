// A fact is said in its row and in the rules that use it, nowhere else: places.txt lists, by the names of each in JSON and in the store,
// the rooms of the product that have such rules, in how many files. `node scripts/places.ts NAME` prints them, and `--lower` takes off
// the list what is gone; a new rule is written there by hand.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { modelRows } from '../../scripts/model-rows.ts';
import { isTelling, placesOf, placesOfAmr, roomsOf, rulesIn } from '../../scripts/places/count.ts';

/** In how many files the issue wants them, the row included. */
const GOALS: Readonly<Record<string, number>> = {
  zoneinfo: 4,
  phone_number: 8,
  minimal_id_tokens: 5,
  logout_needs_auth: 4,
  maxAuthAgeSeconds: 6,
  // Its values written out, `mfa` as a word of paths apart.
  amr: 4,
};

/** Names that several resources have, or that are parameters of the protocol: no count of files says how often one of them is said. */
const SHARED: ReadonlySet<string> = new Set([
  'client_id',
  'created_at',
  'createdAt',
  'displayName',
  'display_name',
  'dueAt',
  'is_active',
  'isActive',
  'last_used_at',
  'updated_at',
  'updatedAt',
  'usedAt',
  'user_id',
]);

const LISTED = rulesIn(readFileSync(new URL('places.txt', import.meta.url), 'utf8'));

/** @returns the files of rooms that have more of a name than the list says */
const unlisted = (
  names: Iterable<string>,
  listedOf: (name: string) => ReadonlyMap<string, number> | undefined = (name) => LISTED.get(name),
): string[] =>
  [...new Set(names)].flatMap((name) =>
    [...roomsOf(name)]
      .filter(([room, count]) => count > (listedOf(name)?.get(room) ?? 0))
      .map(([room, count]) => `${name}: ${count} files of ${room}, not ${listedOf(name)?.get(room) ?? 0}`),
  );

test('places: a name of a row is said in the row and by the rules that are listed, nowhere else', () => {
  const names = modelRows.flatMap(({ name, row }) => [name, row.stored?.split('.').at(-1) ?? name]);
  const counted = names.filter((name) => isTelling(name) && !SHARED.has(name));
  assert.ok(counted.length >= 80, `${counted.length}`);
  const problems = unlisted([...counted, ...LISTED.keys()]).join('\n');
  assert.equal(
    problems,
    '',
    `a new rule is written into places.txt by hand, for example as oidc:2\n${problems}`,
  );
});

test('places: what came down to its goal stays there', () => {
  const filesOf = (name: string) => (name === 'amr' ? placesOfAmr() : placesOf(name));
  for (const [name, goal] of Object.entries(GOALS))
    assert.ok(filesOf(name).length <= goal, `${name}: ${filesOf(name).join(' ')}`);
});

test('places: a room that is not listed is found, and one more file in one that is', () => {
  const rooms = roomsOf('lockout_threshold');
  assert.ok(rooms.has('accounts'));
  assert.match(
    unlisted(['lockout_threshold'], () => new Map()).join(),
    /^lockout_threshold: \d+ files of accounts, not 0/,
  );
  const fewer = new Map([...rooms].map(([room, count]) => [room, count - 1]));
  assert.equal(unlisted(['lockout_threshold'], () => fewer).length, rooms.size);
});

test('places: words of code, texts and templates count, remarks do not', () => {
  assert.ok(placesOf('phone_number').includes('templates/signup.njk'));
  assert.ok(placesOf('lockout_threshold').includes('src/model/settings/sign-in.ts'));
  assert.ok(!placesOf('smtp_url').includes('src/model/smtp-url.ts'), 'a remark there names it');
  assert.deepEqual(placesOf('toString_of_nothing'), []);
  assert.deepEqual(
    [isTelling('profile'), isTelling('given_name'), isTelling('phoneNumber')],
    [false, true, true],
  );
  assert.ok(!placesOfAmr().includes('src/views/language-switch.ts'), '`mfa` is a path there');
});
