// Reads a whole collection, or a filtered part, in pages by id: concurrent inserts and removals cause neither duplicates
// nor gaps, and nothing is counted.
import type { Collection, FieldFilter, Query, Stored } from './port.ts';

/** @param options.limit page size, 1–1000 */
export async function* pagesOf<T>(
  collection: Pick<Collection<T>, 'query'>,
  { filters = [], limit }: { readonly filters?: readonly FieldFilter[]; readonly limit: number },
): AsyncGenerator<Stored<T>[]> {
  for (let after: Query['after']; ; ) {
    const page: Query = { filters, sort: 'id', order: 'asc', limit, after, isCounted: false };
    const { items } = await collection.query(page);
    const last = items.at(-1);
    if (last === undefined) return;
    yield items;
    if (items.length < limit) return;
    after = { sortValue: undefined, id: last.id };
  }
}
