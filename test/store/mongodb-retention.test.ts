// Audit retention on MongoDB with more events than it can count in time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoServerError } from 'mongodb';
import { createMongoCollection } from '../../adapters/mongodb/collection.ts';
import { openConnection } from '../../adapters/mongodb/connection.ts';
import type { Row } from '../../adapters/mongodb/document.ts';
import { prepareCollections } from '../../adapters/mongodb/schema.ts';
import { createAudit } from '../../src/audit/audit.ts';
import { createEvents } from '../../src/events/index.ts';
import { newId } from '../../src/ids.ts';
import { audit } from '../../src/store/collections.ts';
import type { CollectionDefinition } from '../../src/store/port.ts';
import { startMongoServer } from '../support/mongodb-server.ts';

test('audit retention: expired events are removed even when MongoDB cannot count them in time', async (t) => {
  const server = await startMongoServer();
  t.after(() => server.stop());
  const connection = await openConnection({ uri: server.freshUri() });
  t.after(() => connection.close());
  const definitions = [audit] as unknown as readonly CollectionDefinition<never>[];
  await prepareCollections(connection.db, definitions, Date.now());
  const rows = connection.db.collection<Row>(audit.name);
  // As MongoDB answers when it looks at some millions.
  rows.countDocuments = () =>
    Promise.reject(new MongoServerError({ message: 'operation exceeded time limit', code: 50 }));
  const collection = createMongoCollection({
    connection,
    rows,
    clock: Date.now,
    definition: audit,
    ready: () => Promise.resolve(),
    countUpTo: 10,
  });
  const log = createAudit({
    collection,
    clock: Date.now,
    newId,
    events: createEvents(),
    log: { error: () => undefined },
  });
  for (let at = 1; at <= 5; at += 1) {
    await collection.insert(`e${at}`, {
      at,
      event: 'login.success',
      outcome: 'success',
      actorKind: 'system',
    });
  }
  assert.equal(await log.forget(4, 3), 3);
  assert.equal(await log.forget(4, 3), 1);
  assert.equal((await collection.find('e5'))?.value.at, 5);
});
