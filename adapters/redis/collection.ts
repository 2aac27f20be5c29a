// One collection's documents in Redis: arguments and results of the scripts in scripts.ts.
import type { Clock } from '../../src/clock.ts';
import {
  AlreadyExists,
  type CollectionDefinition,
  type EphemeralCollection,
  type ReplaceOptions,
  type Stored,
  VersionConflict,
  type WriteOptions,
} from '../../src/store/port.ts';
import { checkExpiry, checkIndex, checkNames, type Document, isLive, toDocument } from '../document.ts';
// The driver sends strings as UTF-8, which has no unpaired surrogates.
import { decodeText, encodeText } from '../text.ts';
import type { Preparations } from '../together.ts';
import type { RedisConnection } from './connection.ts';

/** Documents that one script handles; other commands wait while it runs. */
const BATCH = 200;

/**
 * Redis' own expiry is later than ours by this much. It matters only when no sweeper runs, and must exceed the difference
 * between the clocks of our processes and of Redis.
 */
const SLACK_MS = 3_600_000;

/** One collection's keys, all in one slot of a cluster. */
export interface Family {
  readonly prefix: string;
  readonly expiries: string;
  entry(encodedId: string): string;
}

/** @throws TypeError for a name that cannot be a hash tag */
export function familyOf(prefix: string, name: string): Family {
  checkNames({ name, indexes: {}, fields: {} });
  const own = `${prefix}:{${name}}:`;
  return { prefix: own, expiries: `${own}x`, entry: (encodedId) => `${own}d:${encodedId}` };
}

const indexKeyOf = (index: string, key: string): string => `i:${index}:${encodeText(key)}`;

interface Write {
  readonly mode: 'insert' | 'put' | 'replace' | 'remove';
  readonly id: string;
  readonly version?: number;
  /** '': never; 'keep': unchanged. */
  readonly expires: string;
}

/** A write as the script takes it, and what its refusal is. */
export interface PreparedWrite {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  refuse(outcome: string, index: string): Error;
}

function toStored<T>(id: string, version: string, expires: string, value: T): Stored<T> {
  const head = { id, version: Number(version) };
  return expires === '' ? { ...head, value } : { ...head, expiresAt: Number(expires), value };
}

const fromText = <T>(text: string): T => JSON.parse(text);

/** @returns writes of documents that are ready to be stored */
function prepareWrites(definition: CollectionDefinition<never>, { prefix, expiries, entry }: Family) {
  const isUnique = (index: string): boolean => definition.indexes[index]?.unique === true;

  function prepare({ mode, id, version, expires }: Write, document?: Document<unknown>): PreparedWrite {
    const encodedId = encodeText(id);
    const keys = [...(document?.keys ?? [])];
    for (const [index, further] of document?.furtherKeys ?? [])
      for (const key of further) keys.push([index, key]);
    const indexes = keys.map(([index, key]) => ({ index, key: indexKeyOf(index, key) }));
    return {
      keys: [entry(encodedId), expiries, ...indexes.map(({ key }) => `${prefix}${key}`)],
      args: [
        prefix,
        encodedId,
        mode,
        String(version ?? ''),
        expires,
        document?.text ?? '',
        JSON.stringify(indexes.map(({ key }) => key)),
        indexes.length,
        ...indexes.map(({ index }) => (isUnique(index) ? index : '')),
      ],
      refuse: (outcome, index) =>
        outcome === 'taken'
          ? new AlreadyExists(definition.name, index)
          : new VersionConflict(definition.name, id, version ?? 0),
    };
  }

  const until = ({ expiresAt }: ReplaceOptions = {}): string => {
    checkExpiry(expiresAt);
    return String(expiresAt ?? '');
  };
  return {
    insert: (id: string, document: Document<unknown>, options?: WriteOptions) =>
      prepare({ mode: 'insert', id, expires: until(options) }, document),
    put: (id: string, document: Document<unknown>, options?: WriteOptions) =>
      prepare({ mode: 'put', id, expires: until(options) }, document),
    replace(id: string, version: number, document: Document<unknown>, options?: ReplaceOptions) {
      const expires = options?.expiresAt === undefined ? 'keep' : until(options);
      return prepare({ mode: 'replace', id, version, expires }, document);
    },
    remove: (id: string) => prepare({ mode: 'remove', id, expires: '' }),
  };
}

/** @returns version and expiry of each. @throws AlreadyExists, VersionConflict when one is refused: none has happened then */
export async function writeAtOnce(
  { connection, clock }: { connection: RedisConnection; clock: Clock },
  writes: readonly PreparedWrite[],
): Promise<string[]> {
  const keys = writes.flatMap((write) => write.keys);
  const [outcome = '', ...rest] = await connection.run((client) =>
    client.latchkeyWrite(keys.length, ...keys, clock(), '', SLACK_MS, ...writes.flatMap(({ args }) => args)),
  );
  if (outcome === 'written') return rest;
  const [place, index = ''] = rest;
  throw writes[Number(place)]?.refuse(outcome, index);
}

/** For writes that happen together. */
export function preparationsOf<T>(
  definition: CollectionDefinition<T>,
  family: Family,
): Preparations<T, PreparedWrite> {
  const prepare = prepareWrites(definition, family);
  return {
    insert: (id, value, options) => prepare.insert(id, toDocument(definition, value), options),
    replace: (id, version, value, options) =>
      prepare.replace(id, version, toDocument(definition, value), options),
    remove: prepare.remove,
  };
}

export function createRedisCollection<T>(deps: {
  connection: RedisConnection;
  clock: Clock;
  definition: CollectionDefinition<T>;
  family: Family;
}): EphemeralCollection<T> {
  const { connection, clock, definition, family } = deps;
  const { prefix } = family;
  const prepare = prepareWrites(definition, family);

  async function write(prepared: PreparedWrite, { copy }: Document<T>, id: string): Promise<Stored<T>> {
    const [version = '', expires = ''] = await writeAtOnce({ connection, clock }, [prepared]);
    return toStored(id, version, expires, copy);
  }

  return {
    async find(id) {
      const [version, expires, text] = await connection.run((client) =>
        client.hmget(family.entry(encodeText(id)), 'v', 'x', 'd'),
      );
      if (version == null || expires == null || text == null) return undefined;
      const stored = toStored<T>(id, version, expires, fromText(text));
      return isLive(stored.expiresAt, clock()) ? stored : undefined;
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      const indexKey = indexKeyOf(index, key);
      const all: Stored<T>[] = [];
      for (let from = '-', readCount = BATCH; readCount === BATCH; ) {
        const page = await connection.run((client) =>
          client.latchkeyFindBy(`${prefix}${indexKey}`, clock(), prefix, indexKey, from, BATCH),
        );
        const [, last, found] = page;
        readCount = page[0];
        from = `(${last}`;
        for (let at = 0; at < found.length; at += 4) {
          const [id = '', version = '', expires = '', text = ''] = found.slice(at, at + 4);
          all.push(toStored(decodeText(id), version, expires, fromText<T>(text)));
        }
      }
      return all;
    },

    async insert(id, value, options) {
      const document = toDocument(definition, value);
      return write(prepare.insert(id, document, options), document, id);
    },

    async put(id, value, options) {
      const document = toDocument(definition, value);
      return write(prepare.put(id, document, options), document, id);
    },

    async replace(id, version, value, options) {
      const document = toDocument(definition, value);
      return write(prepare.replace(id, version, document, options), document, id);
    },

    async remove(id) {
      const encodedId = encodeText(id);
      const removed = await connection.run((client) =>
        client.latchkeyRemove(family.entry(encodedId), clock(), prefix, encodedId),
      );
      return removed === 1;
    },

    async removeBy(index, key) {
      checkIndex(definition, index);
      const indexKey = indexKeyOf(index, key);
      let total = 0;
      for (let readCount = BATCH; readCount === BATCH; ) {
        const [count, removed] = await connection.run((client) =>
          client.latchkeyRemoveBy(`${prefix}${indexKey}`, clock(), prefix, indexKey, BATCH),
        );
        readCount = count;
        total += removed;
      }
      return total;
    },
  };
}

/** Removes at most `limit` expired documents of one family. @returns how many */
export async function sweepFamily(
  connection: RedisConnection,
  { prefix, expiries }: Family,
  now: number,
  limit: number,
): Promise<number> {
  let removed = 0;
  for (let asked = BATCH; removed < limit; ) {
    asked = Math.min(BATCH, limit - removed);
    const count = await connection.run((client) => client.latchkeySweep(expiries, now, prefix, asked));
    removed += count;
    if (count < asked) break;
  }
  return removed;
}
