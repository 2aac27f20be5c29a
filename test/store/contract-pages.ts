// C13 across pages: by position or by offset every document appears once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Collection, FieldFilter, FieldValue, Page, Query } from '../../src/store/port.ts';
import type { Person } from './contract-fixture.ts';
import type { Given } from './contract-query.ts';

export function pageRules({ collection, crowd }: Omit<Given, 'fixture'> & { readonly crowd: number }): void {
  // 97 documents, few different values and some without: every page border falls between ties once.
  const fillMany = async (): Promise<Collection<Person>> => {
    const people = collection();
    const person = (n: number): Person => ({
      name: `p${n}`,
      team: `t${n % 2}`,
      ...(n % 5 === 0 ? {} : { age: n % 7 }),
    });
    await Promise.all(Array.from({ length: 97 }, (_, n) => people.insert(`${n * 31}`, person(n))));
    return people;
  };
  const variants: readonly Pick<Query, 'sort' | 'order' | 'filters'>[] = (
    ['id', 'age', 'name', 'is_active'] as const
  ).flatMap((sort) =>
    (['asc', 'desc'] as const).flatMap((order) => [
      { sort, order },
      { sort, order, filters: [{ field: 'team', op: 'eq', value: 't1' }] },
    ]),
  );

  const sortValues: Readonly<Record<string, (person: Person) => FieldValue | undefined>> = {
    age: (person) => person.age,
    name: (person) => person.name,
  };

  test('C13 paging by `after` returns every document once, in order, for any page size', async () => {
    const people = await fillMany();
    for (const variant of variants) {
      const { items: expected, total } = await people.query({ ...variant, limit: 1000 });
      for (const limit of [1, 7, 48]) {
        const walked: string[] = [];
        let after: Query['after'];
        do {
          const page: Page<Person> = await people.query({ ...variant, limit, after });
          assert.equal(page.total, total);
          const uncounted = await people.query({ ...variant, limit, after, isCounted: false });
          assert.deepEqual(uncounted, { items: page.items, total: page.items.length });
          walked.push(...page.items.map(({ id }) => id));
          const last = page.items.at(-1);
          const isMore = page.items.length === limit;
          after =
            isMore && last ? { sortValue: sortValues[variant.sort]?.(last.value), id: last.id } : undefined;
        } while (after);
        assert.deepEqual(
          walked,
          expected.map(({ id }) => id),
          JSON.stringify({ ...variant, limit }),
        );
      }
    }
  });

  test('C13 paging by `offset` returns every document once, in order', async () => {
    const people = await fillMany();
    for (const variant of variants) {
      const { items: expected } = await people.query({ ...variant, limit: 1000 });
      const walked: string[] = [];
      for (let offset = 0; offset < 110; offset += 10) {
        walked.push(...(await people.query({ ...variant, limit: 10, offset })).items.map(({ id }) => id));
      }
      assert.deepEqual(
        walked,
        expected.map(({ id }) => id),
        JSON.stringify(variant),
      );
    }
  });

  test('C13 a filter that most documents match pages like a selective one', async () => {
    const people = collection();
    const name = (n: number): string => `p${String(n).padStart(4, '0')}`;
    const crowded = Array.from({ length: crowd }, (_, n) => name(n));
    await Promise.all(crowded.map((id, n) => people.insert(id, { name: id, team: 'red', age: n % 10 })));
    const last = crowd - 10;
    await people.insert('other', { name: 'other', team: 'blue' });
    const filters: readonly FieldFilter[] = [{ field: 'team', op: 'eq', value: 'red' }];
    for (const sort of ['id', 'name']) {
      const { items, total } = await people.query({ filters, sort, order: 'asc', limit: 3, offset: last });
      assert.deepEqual(
        items.map(({ id }) => id),
        [name(last), name(last + 1), name(last + 2)],
      );
      assert.equal(total, crowd);
      // Along the sorted field's own index, where it is filtered by, too.
      const from = { field: 'name', op: 'gte', value: name(last) } as const;
      for (const among of [filters, [...filters, from], [from]]) {
        const sorted = { filters: among, sort, order: 'asc', limit: 3, isCounted: false } as const;
        const uncounted = await people.query(among === filters ? { ...sorted, offset: last } : sorted);
        assert.deepEqual(
          uncounted.items.map(({ id }) => id),
          [name(last), name(last + 1), name(last + 2)],
        );
      }
      const after = { sortValue: name(last + 2), id: name(last + 2) };
      const next = await people.query({ filters, sort, order: 'desc', limit: 2, after });
      assert.deepEqual(
        next.items.map(({ id }) => id),
        [name(last + 1), name(last)],
      );
    }
    const search = { text: 'P', fields: ['name'] };
    const found = await people.query({ search, sort: 'age', order: 'desc', limit: 2 });
    assert.deepEqual(
      found.items.map(({ id }) => id),
      [name(crowd - 1), name(crowd - 11)],
    );
    assert.equal(found.total, crowd);
  });
}
