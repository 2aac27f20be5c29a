// Rows as they were read, for reads by id. A row is used again only while no other connection has committed (data-version.ts) and
// this one has not written it, so no process answers from what another has changed. One cache for each connection: its own commits
// do not move its data_version.
import type { DataVersion } from './data-version.ts';
import type { Row } from './sql.ts';

export interface RowCache {
  /** @param read asks the database */
  find(table: string, id: string, read: () => Row | undefined): Row | undefined;
  /** @returns what was made of the row before, for as long as it is the same row; else what `make` makes of it now */
  keepWith<T>(made: WeakMap<Row, T>, row: Row, make: () => T): T;
  /** Call with every write of a row, before its transaction ends. */
  forget(table: string, id: string): void;
  /** Call with every write of rows whose ids are unknown. */
  clear(): void;
}

/** What all rows together may take: of ASCII text as many bytes, of other text twice as many. */
const MAX_CHARACTERS = 6 * 1024 * 1024;
/** A row's share besides its text: the objects around it. */
const ROW_CHARACTERS = 300;
/** What is made of a row takes some such times the space of its text. */
const MADE_SHARE = 2;
/** Larger ones (settings with logos, long lists) would push out many small ones. */
const MAX_ROW_CHARACTERS = 32 * 1024;

export function createRowCache(dataVersion: DataVersion): RowCache {
  // Two halves: when the young one is full it becomes the old one, and what was in the old one unused is gone.
  let young = new Map<string, Row>();
  let old = new Map<string, Row>();
  let characters = 0;
  let version: number | undefined;

  function clear(): void {
    young.clear();
    old.clear();
    characters = 0;
  }

  function keep(key: string, row: Row): void {
    const size = ROW_CHARACTERS + key.length + String(row.value).length;
    if (size > MAX_ROW_CHARACTERS) return;
    if (characters + size > MAX_CHARACTERS / 2) {
      old = young;
      young = new Map();
      characters = 0;
    }
    young.set(key, row);
    characters += size;
  }

  return {
    find(table, id, read) {
      // Before the read: a commit in between makes the next find ask again.
      const now = dataVersion();
      if (now !== version) clear();
      version = now;
      const key = `${table}/${id}`;
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const row = old.get(key) ?? read();
      if (row !== undefined) keep(key, row);
      return row;
    },

    keepWith(made, row, make) {
      const known = made.get(row);
      if (known !== undefined) return known;
      const now = make();
      made.set(row, now);
      characters += MADE_SHARE * String(row.value).length;
      return now;
    },

    forget(table, id) {
      const key = `${table}/${id}`;
      young.delete(key);
      old.delete(key);
    },

    clear,
  };
}
