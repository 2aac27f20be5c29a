// Removes old events from either collection of the audit log.
import type { AuditRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';

/** Oldest first. @param before epoch milliseconds @returns how many were removed, at most `limit` */
export async function forgetEvents(
  collection: Collection<AuditRecord>,
  before: number,
  limit: number,
): Promise<number> {
  const { items } = await collection.query({
    filters: [{ field: 'at', op: 'lte', value: before }],
    sort: 'at',
    order: 'asc',
    limit,
    isCounted: false,
  });
  const removed = await Promise.all(items.map(({ id }) => collection.remove(id)));
  return removed.filter(Boolean).length;
}
