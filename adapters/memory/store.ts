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
  toDocument,
} from '../document.ts';
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

function createMemoryCollection<T>(
  definition: CollectionDefinition<T>,
  rows: Rows,
  now: () => number,
): Collection<T> {
  const live = (id: string): Entry | undefined => {
    const entry = rows.get(id);
    return entry && isLive(entry.expiresAt, now()) ? entry : undefined;
  };
  const liveEntries = (): Entry[] => {
    const at = now();
    return [...rows.values()].filter((entry) => isLive(entry.expiresAt, at));
  };
  const having = (index: string, key: string): Entry[] =>
    liveEntries().filter((entry) => entry.keys.get(index) === key);

  const read = (entry: Entry): Stored<T> => toStored<T>(entry, JSON.parse(entry.text));

  /** C6: every unique key has one live owner, otherwise nothing is written. */
  function write(
    id: string,
    version: number,
    document: Document<T>,
    expiresAt: number | undefined,
  ): Stored<T> {
    for (const [index, { unique }] of Object.entries(definition.indexes)) {
      const key = document.keys.get(index);
      if (unique !== true || key === undefined) continue;
      const isTaken = having(index, key).some((entry) => entry.id !== id);
      if (isTaken) throw new AlreadyExists(definition.name, index);
    }
    const { copy, ...kept } = document;
    const entry: Entry = { ...kept, id, version, expiresAt };
    rows.set(id, entry);
    return toStored(entry, copy);
  }

  return {
    async find(id) {
      const entry = live(id);
      return entry && read(entry);
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      return having(index, key).sort(byId).map(read);
    },

    async insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      if (live(id)) throw new AlreadyExists(definition.name, 'id');
      return write(id, 1, document, expiresAt);
    },

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      return write(id, (live(id)?.version ?? 0) + 1, document, expiresAt);
    },

    async replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const current = live(id);
      if (current?.version !== version) throw new VersionConflict(definition.name, id, version);
      return write(
        id,
        version + 1,
        document,
        expiresAt === undefined ? current.expiresAt : (expiresAt ?? undefined),
      );
    },

    async remove(id) {
      const wasLive = live(id) !== undefined;
      rows.delete(id);
      return wasLive;
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
}

/** @param deps.clock decides what has expired */
export function createMemoryStore({ clock }: { clock: Clock }): Store {
  const collections = new Map<string, Rows>();
  let isClosed = false;

  const now = (): number => {
    if (isClosed) throw new StoreUnavailable('the store is closed');
    return clock();
  };

  function collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    const rows: Rows = collections.get(definition.name) ?? new Map();
    collections.set(definition.name, rows);
    return createMemoryCollection(definition, rows, now);
  }

  return {
    collection,
    ephemeral: collection,

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
