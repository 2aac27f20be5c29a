// The reference implementation of the storage contract, for tests. One process, nothing persisted.
import type { Clock } from '../../src/clock.ts';
import {
  AlreadyExists,
  type Collection,
  type CollectionDefinition,
  type Store,
  type Stored,
  StoreUnavailable,
  VersionConflict,
} from '../../src/store/port.ts';
import {
  checkExpiry,
  checkIndex,
  checkQuery,
  compareText,
  type Document,
  isLive,
  keysIn,
  toDocument,
} from '../document.ts';
import { gather, type Preparations } from '../together.ts';
import { select } from './query.ts';

/** Stored as text, so that no reference is shared with callers (C2). */
interface Entry extends Omit<Document<unknown>, 'copy'> {
  readonly id: string;
  readonly version: number;
  readonly expiresAt: number | undefined;
}

type Rows = Map<string, Entry>;

const toStored = <T>(entry: Entry, copy: T): Stored<T> => ({
  id: entry.id,
  version: entry.version,
  ...(entry.expiresAt === undefined ? {} : { expiresAt: entry.expiresAt }),
  value: copy,
});

const byId = (a: Entry, b: Entry): number => compareText(a.id, b.id);

interface Act<R = unknown> {
  readonly rows: Rows;
  readonly id: string;
  readonly run: () => R;
}

interface MemoryWrites<T> extends Preparations<T, Act> {
  insert(...args: Parameters<Preparations<T, Act>['insert']>): Act<Stored<T>>;
  replace(...args: Parameters<Preparations<T, Act>['replace']>): Act<Stored<T>>;
  remove(id: string): Act<boolean>;
}

function createMemoryCollection<T>(
  definition: CollectionDefinition<T>,
  rows: Rows,
  now: () => number,
): { readonly collection: Collection<T>; readonly writes: MemoryWrites<T> } {
  const live = (id: string): Entry | undefined => {
    const entry = rows.get(id);
    return entry && isLive(entry.expiresAt, now()) ? entry : undefined;
  };
  const liveEntries = (): Entry[] => {
    const at = now();
    return [...rows.values()].filter((entry) => isLive(entry.expiresAt, at));
  };
  const having = (index: string, key: string): Entry[] =>
    liveEntries().filter(
      ({ keys, furtherKeys }) => keys.get(index) === key || furtherKeys.get(index)?.includes(key) === true,
    );

  const read = (entry: Entry): Stored<T> => toStored<T>(entry, JSON.parse(entry.text));

  /** C6: every unique key has one live owner, otherwise nothing is written. */
  function write(
    id: string,
    version: number,
    document: Document<T>,
    expiresAt: number | undefined,
  ): Stored<T> {
    for (const [index, { unique }] of Object.entries(definition.indexes)) {
      if (unique !== true) continue;
      const isTaken = keysIn(document, index).some((key) =>
        having(index, key).some((entry) => entry.id !== id),
      );
      if (isTaken) throw new AlreadyExists(definition.name, index);
    }
    const { copy, ...kept } = document;
    const entry: Entry = { ...kept, id, version, expiresAt };
    rows.set(id, entry);
    return toStored(entry, copy);
  }

  const writes: MemoryWrites<T> = {
    insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const run = (): Stored<T> => {
        if (live(id)) throw new AlreadyExists(definition.name, 'id');
        return write(id, 1, document, expiresAt);
      };
      return { rows, id, run };
    },

    replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const run = (): Stored<T> => {
        const current = live(id);
        if (current?.version !== version) throw new VersionConflict(definition.name, id, version);
        const until = expiresAt === undefined ? current.expiresAt : (expiresAt ?? undefined);
        return write(id, version + 1, document, until);
      };
      return { rows, id, run };
    },

    remove(id) {
      const run = (): boolean => {
        const wasLive = live(id) !== undefined;
        rows.delete(id);
        return wasLive;
      };
      return { rows, id, run };
    },
  };

  const collection: Collection<T> = {
    async find(id) {
      const entry = live(id);
      return entry && read(entry);
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      return having(index, key).sort(byId).map(read);
    },

    insert: async (...args) => writes.insert(...args).run(),
    replace: async (...args) => writes.replace(...args).run(),
    remove: async (id) => writes.remove(id).run(),

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      return write(id, (live(id)?.version ?? 0) + 1, document, expiresAt);
    },

    async removeBy(index, key) {
      checkIndex(definition, index);
      const found = having(index, key);
      for (const { id } of found) rows.delete(id);
      return found.length;
    },

    async query(query) {
      checkQuery(definition, query);
      const { page, total } = select(liveEntries(), query);
      return { items: page.map(read), total: query.isCounted === false ? page.length : total };
    },
  };
  return { collection, writes };
}

/** All of them or, when one is refused, none. */
function runTogether(acts: readonly Act[]): void {
  const before = acts.map(({ rows, id }) => rows.get(id));
  try {
    for (const { run } of acts) run();
  } catch (error) {
    for (const [n, { rows, id }] of acts.entries()) {
      const entry = before[n];
      if (entry) rows.set(id, entry);
      else rows.delete(id);
    }
    throw error;
  }
}

/** @param deps.clock decides what has expired */
export function createMemoryStore({ clock }: { clock: Clock }): Store {
  const collections = new Map<string, Rows>();
  let isClosed = false;

  const now = (): number => {
    if (isClosed) throw new StoreUnavailable('the store is closed');
    return clock();
  };

  function open<T>(definition: CollectionDefinition<T>) {
    const rows: Rows = collections.get(definition.name) ?? new Map();
    collections.set(definition.name, rows);
    return createMemoryCollection(definition, rows, now);
  }
  const collection = <T>(definition: CollectionDefinition<T>): Collection<T> => open(definition).collection;

  return {
    collection,
    ephemeral: collection,

    async writeTogether(fill) {
      runTogether(gather<Act>(fill, (definition) => open(definition).writes));
    },

    async sweep(limit) {
      const at = now();
      const expired = [...collections.values()].flatMap((rows) =>
        [...rows.values()].filter((entry) => !isLive(entry.expiresAt, at)).map(({ id }) => ({ rows, id })),
      );
      const removed = expired.slice(0, limit);
      for (const { rows, id } of removed) rows.delete(id);
      return removed.length;
    },

    // No other process can write into this process's memory.
    stamp: () => 0,

    async ping() {
      now();
    },

    async close() {
      isClosed = true;
    },
  };
}
