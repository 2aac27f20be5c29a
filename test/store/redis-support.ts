// What the Redis tests share: a backend for the contract, and a collection.
import { randomBytes } from 'node:crypto';
import { createRedisStore } from '../../adapters/redis/store.ts';
import { type CollectionDefinition, type Store, StoreUnavailable } from '../../src/store/port.ts';
import type { Backend } from './contract-fixture.ts';

export interface Note {
  text: string;
  owner?: string;
  isUsed?: boolean;
}

export const notes: CollectionDefinition<Note> = {
  name: 'notes',
  durability: 'ephemeral',
  indexes: { owner: { key: (note) => note.owner } },
  fields: {},
};

/** Empty: each has a prefix of its own. */
export async function createRedisBackend(url: string): Promise<Backend> {
  const prefix = `test-${randomBytes(8).toString('hex')}`;
  const stores: Store[] = [];
  let now = 1_800_000_000_000;
  const open = async (): Promise<Store> => {
    const store = await createRedisStore({ url, clock: () => now, prefix });
    stores.push(store);
    return store;
  };
  return {
    store: await open(),
    now: () => now,
    advance(ms) {
      now += ms;
    },
    reopen: open,
    async close() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

/** @returns after how many ms this was told to be unavailable; undefined when it was answered */
export async function unavailableIn(act: () => Promise<unknown>): Promise<number | undefined> {
  const started = performance.now();
  try {
    await act();
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return performance.now() - started;
  }
}
