// The storage contract (rules C1–C16 in docs/architecture.md). Every backend in adapters/ implements it and passes
// test/store/contract.ts. What is stored is defined in collections.ts.

/** A stored value with its metadata. */
export interface Stored<T> {
  readonly id: string;
  /** 1 after insert, plus one at every write. */
  readonly version: number;
  /** Epoch milliseconds; from then on no reader finds the document (C1). */
  readonly expiresAt?: number | undefined;
  readonly value: T;
}

export interface WriteOptions {
  /** Epoch milliseconds. Absent: never expires. */
  readonly expiresAt?: number | undefined;
}

export interface ReplaceOptions {
  /** Absent: keep the expiry the document has; null: clear it (C11). */
  readonly expiresAt?: number | null | undefined;
}

export type FieldType = 'string' | 'number' | 'boolean';

/** A secondary key. `key` returns undefined for "not indexed" (C8). */
export interface IndexDefinition<T> {
  readonly unique?: boolean;
  readonly key: (value: T) => string | undefined;
  /** Of a unique index: further keys of the same document, by each of which it is found, and of which each has one owner. */
  readonly furtherKeys?: (value: T) => readonly string[];
  /** Takes these further keys out of the value: of a document whose further key another one has as its key (yielded-keys.ts). */
  readonly dropFurther?: (value: T, keys: ReadonlySet<string>) => void;
}

/** A field that `query` may filter and sort by. */
export interface FieldDefinition<T> {
  readonly type: FieldType;
  /** Text that is searched among very many documents; a store may keep an index for it. */
  readonly isSearched?: boolean;
  /** Text for `contains` and `search` alone, in which no list is sorted or compared: a store keeps no order of it. */
  readonly isOnlySearched?: boolean;
  readonly of: (value: T) => string | number | boolean | undefined;
}

/**
 * `durable`: survives `kill -9` once acknowledged (C15). `ephemeral`: always has an expiry, may live in a store that
 * loses the last second on a crash; it has no `query`.
 */
export interface CollectionDefinition<T> {
  /** Lower-case letters and underscores; the table or collection name. */
  readonly name: string;
  readonly durability: 'durable' | 'ephemeral';
  readonly indexes: Readonly<Record<string, IndexDefinition<T>>>;
  readonly fields: Readonly<Record<string, FieldDefinition<T>>>;
}

export interface EphemeralCollection<T> {
  find(id: string): Promise<Stored<T> | undefined>;
  /**
   * The same for who only reads: as long as nobody has written the document, the same object each time, frozen in all its depth,
   * so that what was made from it can be kept with it. Absent where a store cannot tell without being asked.
   */
  readonly findShared?: ((id: string) => Promise<Stored<T> | undefined>) | undefined;
  /** Live documents whose index key is now `key`, in id order. Throws TypeError for an undeclared index. */
  findBy(index: string, key: string): Promise<Stored<T>[]>;
  /** @throws AlreadyExists when the id or a unique key has a live owner (C3, C6); nothing is written then */
  insert(id: string, value: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Writes whatever is there (C4). @throws AlreadyExists on a unique-key clash */
  put(id: string, value: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Compare-and-set (C5). @throws VersionConflict when `version` is not current or the document is gone */
  replace(id: string, version: number, value: T, options?: ReplaceOptions): Promise<Stored<T>>;
  /** @returns whether a live document was removed */
  remove(id: string): Promise<boolean>;
  /** @returns how many live documents were removed (C10) */
  removeBy(index: string, key: string): Promise<number>;
}

export type FieldValue = string | number | boolean;

export interface FieldFilter {
  readonly field: string;
  /** `contains` is a case-insensitive literal substring; `gte`/`lte` compare; `absent` matches undefined. */
  readonly op: 'eq' | 'gte' | 'lte' | 'contains' | 'absent' | 'present';
  readonly value?: FieldValue | undefined;
}

export interface Query {
  /** All must match. */
  readonly filters?: readonly FieldFilter[] | undefined;
  /** Any of `fields` contains `text` (case-insensitive, literal: `%` and `_` mean themselves). */
  readonly search?: { readonly text: string; readonly fields: readonly string[] } | undefined;
  /**
   * A declared field, or `id`. Ties are broken by id (C13). Documents without the field sort first, text goes by code
   * point; `desc` is the exact reverse, ids included.
   */
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  /** 1–1000. */
  readonly limit: number;
  /** Skip this many; not together with `after`. */
  readonly offset?: number | undefined;
  /** Continue after this position (keyset): stable while documents are inserted and removed. */
  readonly after?: { readonly sortValue: FieldValue | undefined; readonly id: string } | undefined;
  /** false: `total` is not needed. Counting may take much longer than reading the page. */
  readonly isCounted?: boolean | undefined;
}

export interface Page<T> {
  readonly items: Stored<T>[];
  /** How many live documents match, over all pages; without counting, the number of items. */
  readonly total: number;
}

export interface Collection<T> extends EphemeralCollection<T> {
  /** @throws TypeError for an undeclared field, a value of another type than the field's, or an impossible page */
  query(query: Query): Promise<Page<T>>;
}

/** One collection's part of writes that happen together. The arguments, and what is thrown, are those of its own methods. */
export interface CollectionWrites<T> {
  insert(id: string, value: T, options?: WriteOptions): void;
  replace(id: string, version: number, value: T, options?: ReplaceOptions): void;
  /** One that is not there does not stop the others. */
  remove(id: string): void;
}

export interface Writes {
  to<T>(definition: CollectionDefinition<T>): CollectionWrites<T>;
}

export interface Store {
  collection<T>(definition: CollectionDefinition<T>): Collection<T>;
  ephemeral<T>(definition: CollectionDefinition<T>): EphemeralCollection<T>;
  /**
   * Several writes, to any collections, of which all happen or none (C16):
   *
   *    await store.writeTogether((writes) => {
   *      writes.to(refreshTokens).replace(id, version, { ...value, consumed });
   *      writes.to(refreshTokens).insert(successorId, successor, { expiresAt });
   *      writes.to(accessTokens).insert(jti, accessToken, { expiresAt });
   *    });
   *
   * Put the write that forbids or decides first, and after it what nobody can reach before the caller has answered: where the
   * backend has no commit over them all (docs/architecture.md), the first is written first, and a crash in between leaves it.
   * Each document is written once at most.
   * @param fill adds the writes; called once, at once
   * @throws VersionConflict, AlreadyExists when one of them is refused: then none has happened
   * @throws StoreUnavailable as for a single write: all may have happened
   */
  writeTogether(fill: (writes: Writes) => void): Promise<void>;
  /**
   * Removes expired documents, at most `limit` per call, so that requests can run in between. Never needed for correctness
   * (C1). @returns how many were removed; fewer than `limit` means there are no more
   */
  sweep(limit: number): Promise<number>;
  /**
   * A number that differs from the last one if another process may have written since; undefined where the backend cannot
   * tell without a round trip.
   */
  stamp(): number | undefined;
  /**
   * The TCP ports on which the backend's servers listen, as far as they have said so: a cluster, sentinels or SRV records name
   * servers that are not in the address. Absent: no server.
   */
  ports?(): readonly number[];
  /** Resolves when the backend responds. @throws StoreUnavailable */
  ping(): Promise<void>;
  /** Finishes pending writes and releases all resources. */
  close(): Promise<void>;
}

/** The id or a unique key is taken by a live document. */
export class AlreadyExists extends Error {
  override readonly name = 'AlreadyExists';
  readonly collection: string;
  /** The clashing index, or `id`. */
  readonly index: string;
  constructor(collection: string, index: string) {
    super(`${collection}: ${index} is taken`);
    this.collection = collection;
    this.index = index;
  }
}

/** The document changed, expired or was removed since it was read. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
  readonly collection: string;
  constructor(collection: string, id: string, version: number) {
    super(`${collection}/${id} is no longer at version ${version}`);
    this.collection = collection;
  }
}

/** The backend is unavailable; the request becomes 503 with Retry-After. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** Names of the unavailable backends, where there are several; without addresses. */
  readonly down: readonly string[];
  constructor(message: string, options: ErrorOptions & { readonly down?: readonly string[] } = {}) {
    super(message, options);
    this.down = options.down ?? [];
  }
}
