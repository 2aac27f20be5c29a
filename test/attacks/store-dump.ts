// Reads a copy of the database as a thief would: every row of every table, without this product's code.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { allCollections } from '../../src/store/all-collections.ts';
import type { TestApp } from '../support/app.ts';
import { placesOf } from '../support/test-store.ts';

/** Table name -> its rows, each cell as text. */
export function dumpStore({ dataDir }: Pick<TestApp, 'dataDir'>): Map<string, string[][]> {
  const database = new DatabaseSync(join(dataDir, 'latchkey.db'), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return new Map(
      tables.map(({ name }) => {
        const reading = database.prepare(`SELECT * FROM "${name}"`);
        // What SQLite keeps for itself holds numbers that are none in JavaScript.
        reading.setReadBigInts(true);
        const rows = reading.all();
        const cells = rows.map((row) => Object.values(row).map(textOf));
        return [String(name), cells];
      }),
    );
  } finally {
    database.close();
  }
}

/** The same of whichever store the run is on: collection name -> its documents, each as text. */
export async function dumpAnyStore(
  app: Pick<TestApp, 'dataDir' | 'store'>,
): Promise<Map<string, string[][]>> {
  const places = placesOf(app.store);
  if (places === undefined) return dumpStore(app);
  const dump = await dumpMongo(places.mongodb);
  if (places.redis !== undefined) {
    for (const [name, rows] of await dumpRedis(places.redis)) {
      // What is in the one is not in the other; an empty collection may be there.
      dump.set(name, [...(dump.get(name) ?? []), ...rows]);
    }
  }
  return dump;
}

async function dumpMongo(uri: string): Promise<Map<string, string[][]>> {
  const client = new MongoClient(uri);
  try {
    const dump = new Map<string, string[][]>();
    // By our list: the server for tests knows none of its own.
    for (const { name } of allCollections) {
      const documents = await client.db().collection(name).find().toArray();
      dump.set(
        name,
        documents.map((document) => [JSON.stringify(document)]),
      );
    }
    return dump;
  } finally {
    await client.close();
  }
}

/** A key is `<prefix>:{<collection>}:d:<id>` for a document (adapters/redis-scripts.ts). */
async function dumpRedis({
  url,
  prefix,
}: {
  readonly url: string;
  readonly prefix: string;
}): Promise<Map<string, string[][]>> {
  const client = new Redis(url);
  try {
    const dump = new Map<string, string[][]>();
    for await (const keys of client.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      for (const key of keys) {
        const [, name] = /:\{([^}]+)\}:d:/.exec(key) ?? [];
        if (name === undefined) continue;
        const row = [String(key), JSON.stringify(await client.hgetall(key))];
        dump.set(name, [...(dump.get(name) ?? []), row]);
      }
    }
    return dump;
  } finally {
    client.disconnect();
  }
}

const textOf = (cell: unknown): string =>
  ArrayBuffer.isView(cell)
    ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('utf8')
    : String(cell);

/** Every text in a dump: cells, and whatever stands in them as JSON, names included, down to the last leaf. */
export function textsIn(dump: ReadonlyMap<string, readonly (readonly string[])[]>): Set<string> {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (texts.has(value)) return;
      texts.add(value);
      if (/^[[{"]/.test(value)) visit(parsed(value));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        texts.add(name);
        visit(item);
      }
    }
  };
  for (const rows of dump.values()) for (const row of rows) for (const cell of row) visit(cell);
  return texts;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
