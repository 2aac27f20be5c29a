// C13 within a page: filters, search, order, totals. Not for backends without `query`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Collection, FieldFilter, Page, Query } from '../../src/store/port.ts';
import type { Fixture, Person } from './contract-fixture.ts';

export interface Given {
  readonly fixture: Fixture;
  collection(): Collection<Person>;
}

const all: Query = { sort: 'id', order: 'asc', limit: 1000 };
const idsOf = ({ items }: Page<Person>): string => items.map(({ id }) => id).join('');

const crowd: Readonly<Record<string, Person>> = {
  a: { name: 'Ada%', team: 'red', age: 30, isActive: true },
  b: { name: 'bob_1', team: 'red', age: 20, isActive: false },
  c: { name: 'bobx1', team: 'blue', age: 30 },
  d: { name: 'ÄRGER', age: -1, isActive: true },
  e: { name: 'eve.*', team: 'blue', isActive: false },
  f: { name: 'nul\0after', team: 'BLUE', age: 2.5, isActive: true },
};

export function queryRules({ fixture, collection }: Given): void {
  const fill = async (): Promise<Collection<Person>> => {
    const people = collection();
    for (const [id, person] of Object.entries(crowd)) await people.insert(id, person);
    return people;
  };
  const where = async (...filters: FieldFilter[]): Promise<string> =>
    idsOf(await (await fill()).query({ ...all, filters }));
  const search = async (text: string, fields = ['name']): Promise<string> =>
    idsOf(await (await fill()).query({ ...all, search: { text, fields } }));

  const filterCases: readonly [FieldFilter, string][] = [
    [{ field: 'team', op: 'eq', value: 'blue' }, 'ce'],
    [{ field: 'age', op: 'eq', value: 30 }, 'ac'],
    [{ field: 'is_active', op: 'eq', value: true }, 'adf'],
    [{ field: 'is_active', op: 'eq', value: false }, 'be'],
    [{ field: 'age', op: 'gte', value: 20 }, 'abc'],
    [{ field: 'age', op: 'lte', value: 2.5 }, 'df'],
    [{ field: 'name', op: 'gte', value: 'bobx1' }, 'cdef'],
    [{ field: 'age', op: 'absent' }, 'e'],
    [{ field: 'age', op: 'present' }, 'abcdf'],
    [{ field: 'team', op: 'contains', value: 'LU' }, 'cef'],
    [{ field: 'team', op: 'contains', value: '' }, 'abcef'],
  ];
  for (const [filter, expected] of filterCases) {
    test(`C13 filter ${filter.field} ${filter.op} ${String(filter.value ?? '')}`, async () => {
      assert.equal(await where(filter), expected);
    });
  }

  test('C13 a page without its total is the same page', async () => {
    const people = await fill();
    const query: Query = {
      ...all,
      filters: [{ field: 'age', op: 'present' }],
      order: 'desc',
      limit: 2,
      isCounted: false,
    };
    const page = await people.query(query);
    assert.equal(idsOf(page), 'fd');
    assert.equal(page.total, 2);
  });

  const searchCases: readonly [string, string][] = [
    ['%', 'a'],
    ['_', 'b'],
    ['.*', 'e'],
    ['BOB', 'bc'],
    ['ärg', 'd'],
    ['ger', 'd'],
    ['AFTER', 'f'],
    ['l\0a', 'f'],
    ['\\', ''],
    ["' OR 1=1 --", ''],
  ];
  for (const [text, expected] of searchCases) {
    test(`C13 search is literal and ignores case: ${JSON.stringify(text)}`, async () => {
      assert.equal(await search(text), expected);
    });
  }

  test('C13 search covers each of its fields and combines with filters', async () => {
    assert.equal(await search('b', ['name', 'team']), 'bcef');
    const people = collection();
    const both: Query = {
      ...all,
      filters: [
        { field: 'team', op: 'eq', value: 'blue' },
        { field: 'age', op: 'present' },
      ],
      search: { text: 'b', fields: ['name', 'team'] },
    };
    const page = await people.query(both);
    assert.equal(idsOf(page), 'c');
    assert.equal(page.total, 1);
    assert.deepEqual(page.items, [{ id: 'c', version: 1, value: crowd.c }]);
  });

  test('C13 sorting is total, absent values first, and desc is the exact reverse', async () => {
    const people = await fill();
    const sorted = async (sort: string, order: 'asc' | 'desc'): Promise<string> =>
      idsOf(await people.query({ ...all, sort, order }));
    const orders = { id: 'abcdef', name: 'abcefd', team: 'dfceab', age: 'edfbac', is_active: 'cbeadf' };
    for (const [sort, expected] of Object.entries(orders)) {
      assert.equal(await sorted(sort, 'asc'), expected, sort);
      assert.equal(await sorted(sort, 'desc'), [...expected].reverse().join(''), sort);
    }
  });

  test('C13 text sorts by code point, not by UTF-16 unit', async () => {
    const people = collection();
    for (const name of ['\u{1f600}', '\uff41', 'z']) await people.insert(name, { name });
    const { items } = await people.query({ ...all, sort: 'name' });
    assert.deepEqual(
      items.map(({ id }) => id),
      ['z', '\uff41', '\u{1f600}'],
    );
  });

  test('C13 `after` continues at its position although the document there was removed', async () => {
    const people = await fill();
    await people.remove('b');
    const page = await people.query({ ...all, sort: 'age', after: { sortValue: 20, id: 'b' } });
    assert.equal(idsOf(page), 'ac');
    assert.equal(page.total, 5);
  });

  test('C13 expired documents are neither listed nor counted', async () => {
    const people = await fill();
    await people.insert('g', { name: 'gone', team: 'blue' }, { expiresAt: fixture.backend.now() + 10 });
    const blue: Query = { ...all, filters: [{ field: 'team', op: 'eq', value: 'blue' }] };
    assert.equal((await people.query(all)).total, 7);
    assert.equal(idsOf(await people.query(blue)), 'ceg');
    fixture.backend.advance(10);
    for (const sort of ['id', 'name', 'age']) {
      const page = await people.query({ ...all, sort });
      assert.deepEqual([page.items.length, page.total], [6, 6]);
    }
    assert.deepEqual([idsOf(await people.query(blue)), (await people.query(blue)).total], ['ce', 2]);
  });

  test('C13 query fields follow the document', async () => {
    const people = await fill();
    await people.put('a', { name: 'zoe' });
    assert.equal(idsOf(await people.query({ ...all, sort: 'name' })), 'bcefad');
    assert.equal(idsOf(await people.query({ ...all, filters: [{ field: 'age', op: 'absent' }] })), 'ae');
  });

  test('C13 an invalid query is a programmer error', async () => {
    const people = await fill();
    const wrong: readonly Partial<Query>[] = [
      { sort: 'nickname' },
      { sort: 'toString' },
      { filters: [{ field: 'nickname', op: 'present' }] },
      { filters: [{ field: 'age', op: 'eq', value: '30' }] },
      { filters: [{ field: 'age', op: 'gte' }] },
      { filters: [{ field: 'age', op: 'contains', value: '3' }] },
      { search: { text: 'x', fields: ['age'] } },
      { limit: 0 },
      { limit: 1001 },
      { limit: 1.5 },
      { offset: -1 },
      { offset: 1, after: { sortValue: undefined, id: 'a' } },
      { sort: 'age', after: { sortValue: 'x', id: 'a' } },
    ];
    for (const part of wrong) {
      await assert.rejects(people.query({ ...all, ...part }), TypeError, JSON.stringify(part));
    }
  });
}
