// One collection's documents in Redis: arguments and results of the scripts in scripts.ts.
import type { Clock } from '../../src/clock.ts';
import {
  AlreadyExists,
  type CollectionDefinition,
  type EphemeralCollection,
  type Stored,
  VersionConflict,
} from '../../src/store/port.ts';
import { checkExpiry, checkIndex, checkNames, type Document, isLive, toDocument } from '../document.ts';
// The driver sends strings as UTF-8, which has no unpaired surrogates.
import { decodeText, encodeText } from '../text.ts';
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

type Mode = 'insert' | 'put' | 'replace';

interface Write {
  readonly mode: Mode;
  readonly id: string;
  readonly version?: number;
  /** '': never; 'keep': unchanged. */
  readonly expires: string;
}

function toStored<T>(id: string, version: string, expires: string, value: T): Stored<T> {
  const head = { id, version: Number(version) };
  return expires === '' ? { ...head, value } : { ...head, expiresAt: Number(expires), value };
}

const fromText = <T>(text: string): T => JSON.parse(text);

export function createRedisCollection<T>(deps: {
  connection: RedisConnection;
  clock: Clock;
  definition: CollectionDefinition<T>;
  family: Family;
}): EphemeralCollection<T> {
  const { connection, clock, definition, family } = deps;
  const { prefix } = family;
  const isUnique = (index: string): boolean => definition.indexes[index]?.unique === true;

  async function write({ mode, id, version, expires }: Write, document: Document<T>): Promise<Stored<T>> {
    const encodedId = encodeText(id);
    const indexes = [...document.keys].map(([index, key]) => ({ index, key: indexKeyOf(index, key) }));
    const keys = [family.entry(encodedId), family.expiries, ...indexes.map(({ key }) => `${prefix}${key}`)];
    const [outcome, first = '', second = ''] = await connection.run((client) =>
      client.latchkeyWrite(
        keys.length,
        ...keys,
        clock(),
        prefix,
        encodedId,
        mode,
        String(version ?? ''),
        expires,
        document.text,
        JSON.stringify(indexes.map(({ key }) => key)),
        SLACK_MS,
        ...indexes.map(({ index }) => (isUnique(index) ? index : '')),
      ),
    );
    if (outcome === 'taken') throw new AlreadyExists(definition.name, first);
    if (outcome === 'conflict') throw new VersionConflict(definition.name, id, version ?? 0);
    return toStored(id, first, second, document.copy);
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

    async insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      return write({ mode: 'insert', id, expires: String(expiresAt ?? '') }, toDocument(definition, value));
    },

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      return write({ mode: 'put', id, expires: String(expiresAt ?? '') }, toDocument(definition, value));
    },

    async replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const expires = expiresAt === undefined ? 'keep' : String(expiresAt ?? '');
      return write({ mode: 'replace', id, version, expires }, toDocument(definition, value));
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
