import type { ClientRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';

/** The store's filter for them (collections.ts). */
export const restrictedTo = (group: string) =>
  ({ field: 'allowed_groups', op: 'contains', value: `/${group}/` }) as const;

/** @returns a function that finds the client_id of one application restricted to a group, if there is one */
export const createFindRestricted =
  (collection: Pick<Collection<ClientRecord>, 'query'>) =>
  async (group: string): Promise<string | undefined> => {
    const { items } = await collection.query({
      filters: [restrictedTo(group)],
      sort: 'id',
      order: 'asc',
      limit: 1,
    });
    return items[0]?.id;
  };
