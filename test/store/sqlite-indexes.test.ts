// Every index of the database with the query that needs it: an index costs each write, so one that no query uses has to go.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { orderedFields } from '../../adapters/document.ts';
import { type Connection, openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore, createSqliteStoreOn } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { refreshTokens } from '../../src/store/protocol-collections.ts';
import { temporaryDirectory } from './sqlite-support.ts';

const directory = await temporaryDirectory();
after(() => directory.remove());

const indexesOf = (connection: Connection): string[] =>
  connection
    .statement(`SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name`)
    .all()
    .map(({ name }) => String(name));

/** @returns the indexes in SQLite's plan for a statement */
const usedBy = (connection: Connection, sql: string, how = ''): string[] =>
  connection
    .statement(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .filter(({ detail }) => String(detail).startsWith(how))
    .flatMap(({ detail }) => /USING (?:COVERING )?INDEX (\S+)/.exec(String(detail))?.[1] ?? []);

test('sqlite: every index is used by a query, and every look-up by key uses one', async () => {
  const connection = openConnection(`${directory.path}/indexes.db`);
  const asked: string[] = [];
  const watched: Connection = {
    ...connection,
    statement(sql) {
      asked.push(sql);
      return connection.statement(sql);
    },
  };
  const store = createSqliteStoreOn({ connection: watched, clock: Date.now, definitions: allCollections });
  const all = indexesOf(connection);
  asked.length = 0;
  for (const definition of allCollections) {
    const collection = store.collection(definition);
    await collection.find('nobody');
    for (const [index, { furtherKeys }] of Object.entries(definition.indexes)) {
      // Of several keys: that of the first ones, then that of ids; further keys are their table's own order.
      const searched = furtherKeys === undefined ? 1 : 2;
      const before = asked.length;
      await collection.findBy(index, 'nobody');
      await collection.removeBy(index, 'nobody');
      const byKey = asked.slice(before).filter((sql) => /^(?:SELECT|DELETE)/.test(sql));
      assert.equal(byKey.length, 2);
      for (const sql of byKey) {
        assert.equal(usedBy(connection, sql, 'SEARCH').length, searched, sql);
        assert.deepEqual(usedBy(connection, sql, 'SCAN'), [], sql);
      }
    }
    for (const sort of orderedFields(definition.fields))
      await collection.query({ sort, order: 'asc', limit: 10, isCounted: false });
  }
  await store.sweep(10);
  const statements = new Set(asked.filter((sql) => /^\s*(?:SELECT|DELETE|UPDATE)/.test(sql)));
  const used = new Set([...statements].flatMap((sql) => usedBy(connection, sql)));
  assert.deepEqual(
    all.filter((index) => !used.has(index)),
    [],
  );
  // Two of one table that begin with the same column: one of them would do.
  const columns = new Map<string, string>();
  for (const index of all) {
    const [first] = connection.statement(`SELECT name FROM pragma_index_info(?)`).all(index);
    const key = `${index.split('__')[0]}.${String(first?.name)}`;
    assert.equal(columns.get(key), undefined, `${index} and ${columns.get(key)}`);
    columns.set(key, index);
  }
  await store.close();
});

test('sqlite: a file of an earlier version loses its duplicate and its full indexes', async () => {
  const file = `${directory.path}/earlier.db`;
  const open = () => createSqliteStore({ file, clock: Date.now, definitions: [refreshTokens] });
  const first = open();
  await first.collection(refreshTokens).insert('t', { accountId: 'ada', grantId: 'g', jti: 't' });
  await first.close();
  const earlier = openConnection(file);
  for (const key of ['account', 'client', 'grant'])
    earlier.exec(`CREATE INDEX "refresh_tokens__k_${key}" ON "refresh_tokens" (k_${key})`);
  const now = indexesOf(earlier);
  earlier.close();
  const store = open();
  const connection = openConnection(file);
  assert.deepEqual(
    indexesOf(connection),
    now.filter((name) => !name.includes('__k_')),
  );
  connection.close();
  const tokens = store.collection(refreshTokens);
  assert.equal((await tokens.findBy('account', 'ada')).length, 1);
  assert.equal(await tokens.removeBy('grant', 'g'), 1);
  await store.close();
});
