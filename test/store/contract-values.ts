// Rules about values: C2 copies both ways, and every JSON value and string is read as it was written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fixture } from './contract-fixture.ts';

const MEGABYTE = 'äöü€😀 "\\\n'.repeat(100_000);

const values: Readonly<Record<string, unknown>> = {
  'a string of 1 MB': { text: MEGABYTE },
  'NUL bytes': { text: 'a\0b\0', '\0': 1 },
  'unpaired surrogates': { high: 'x\ud800', low: '\udfffy', reversed: '\udc00\ud800', '\ud800': true },
  noncharacters: { text: '\ufffe\uffff\u{10fffe}\u{10ffff}' },
  'keys in every script': { ключ: 1, 鍵: 2, مفتاح: 3, '🔑': 4, 'e\u0301': 5, '\u00e9': 6, '': 7 },
  'keys that databases treat specially': {
    $set: 1,
    'a.b': 2,
    _id: 3,
    id: 4,
    version: 5,
    constructor: 6,
    'a"b`c\'': 7,
  },
  'quotes and comments': { text: `'; DROP TABLE contract_anything; --` },
  'numbers at their limits': [
    0,
    -1,
    1.5,
    1e-7,
    2 ** 53 - 1,
    -(2 ** 53 - 1),
    Number.MAX_VALUE,
    Number.MIN_VALUE,
  ],
  'every kind of JSON': [null, true, false, 'x', [], {}, [[[]]], { a: { b: [{ c: null }] } }],
  'a bare string': 'text',
  'a bare null': null,
  'text that looks like a time zone matter': { at: '2026-03-29T02:30:00+02:00', day: '1999-12-31' },
};

const ids = [
  'plain',
  'Plain',
  ' spaced ',
  'per%cent',
  'under_score',
  'quo\'te"`',
  'a:b:c',
  'https://example.com/?q=1#x',
  '../../etc/passwd',
  '*',
  '$where',
  '{braces}',
  '__proto__',
  'constructor',
  '0',
  '00',
  '1e3',
  '\u00e9',
  'e\u0301',
  '😀',
  '\ufffd',
  '\ud800',
  '\udfff',
  '\u{10fffe}',
  '\u{10fffe}\u{10d800}',
  'nul\0',
  'nul\0a',
  'nul',
  'x'.repeat(1000),
];

export function valueRules(fixture: Fixture): void {
  for (const [what, value] of Object.entries(values)) {
    test(`C2 a value is read as it was written: ${what}`, async () => {
      const things = fixture.anything();
      assert.deepEqual((await things.insert('a', value)).value, value);
      assert.deepEqual((await things.find('a'))?.value, value);
      assert.deepEqual((await things.put('a', value)).value, value);
      assert.deepEqual((await things.replace('a', 2, value)).value, value);
      assert.deepEqual((await things.find('a'))?.value, value);
    });
  }

  test('C2 a value that is not JSON is refused', async () => {
    const things = fixture.anything();
    await assert.rejects(things.insert('a', undefined), TypeError);
    await assert.rejects(things.insert('a', 1n), TypeError);
    assert.equal(await things.find('a'), undefined);
  });

  test('C2 ids and keys are exact: different ones stay different, none is special', async () => {
    const { people } = fixture;
    for (const id of ids) await people.insert(id, { name: id, team: id });
    for (const id of ids) {
      const stored = { id, version: 1, value: { name: id, team: id } };
      assert.deepEqual(await people.find(id), stored);
      assert.deepEqual(await people.findBy('name', id), [stored]);
      assert.deepEqual(await people.findBy('team', id), [stored]);
    }
    for (const id of ids) assert.equal(await people.removeBy('team', id), 1, id);
    for (const id of ids) assert.equal(await people.find(id), undefined);
  });

  test('C2 later changes by the writer are not stored', async () => {
    const { people } = fixture;
    const value = { name: 'ada', team: 'red' };
    const writing = people.insert('a', value);
    value.team = 'changed before the answer';
    const inserted = await writing;
    assert.equal(inserted.value.team, 'red');
    inserted.value.team = 'changed in the answer';
    assert.equal((await people.find('a'))?.value.team, 'red');

    const next = { name: 'ada', team: 'blue' };
    const put = await people.put('a', next);
    next.team = 'changed';
    put.value.team = 'changed';
    assert.equal((await people.find('a'))?.value.team, 'blue');

    const last = { name: 'ada', team: 'green' };
    const replaced = await people.replace('a', 2, last);
    last.team = 'changed';
    replaced.value.team = 'changed';
    assert.deepEqual(
      (await people.findBy('team', 'green')).map(({ id }) => id),
      ['a'],
    );
  });

  test('C2 changes by a reader are not stored', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada', team: 'red' });
    const found = await people.find('a');
    const [listed] = await people.findBy('team', 'red');
    assert.ok(found && listed);
    found.value.team = 'changed';
    listed.value.team = 'changed';
    assert.equal((await people.find('a'))?.value.team, 'red');
  });
}
