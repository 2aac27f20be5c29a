// What the release step and a start ask of MongoDB, and in which order, where only some servers answer so (test/support/mongodb-stand-in.ts).
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BSON } from 'mongodb';
import { openConnection } from '../../adapters/mongodb/connection.ts';
import { prepareMongo } from '../../adapters/mongodb/store.ts';
import type { CollectionDefinition } from '../../src/store/port.ts';
import { type Answers, type StandIn, startStandIn } from '../support/mongodb-stand-in.ts';
import { small, type Thing } from './schema-fixture.ts';

const unique: CollectionDefinition<Thing> = {
  ...small,
  indexes: { name: { unique: true, key: (thing) => thing.name } },
};
const things = (...firstBatch: object[]) => ({ cursor: { id: 0n, ns: 'test.things', firstBatch } });

async function standIn(t: TestContext, answers: Answers): Promise<StandIn> {
  const server = await startStandIn(answers);
  t.after(() => server.stop());
  return server;
}

async function released(t: TestContext, answers: Answers): Promise<readonly BSON.Document[]> {
  const server = await standIn(t, {
    listIndexes: things({ name: '_id_' }, { name: 'k_name' }),
    find: things(),
    ...answers,
  });
  const uri = `mongodb://${server.host}/test?directConnection=true&serverMonitoringMode=poll`;
  // A list of many types: whoever walks it treats records as opaque, which is what `never` says.
  const definitions = [unique] as unknown as readonly CollectionDefinition<never>[];
  await prepareMongo({ uri, clock: Date.now, definitions });
  return server.asked;
}

const has = (name: string) => (command: BSON.Document) => Object.hasOwn(command, name);

test('release: the new index is built before the old one goes, even if another dropped it', async (t) => {
  const gone = { ok: 0, code: 27, codeName: 'IndexNotFound', errmsg: 'index not found with name [k_name]' };
  const asked = await released(t, { dropIndexes: gone });
  const [created, dropped] = [asked.findIndex(has('createIndexes')), asked.findIndex(has('dropIndexes'))];
  ok(created !== -1 && created < dropped, `${created} ${dropped}`);
  await rejects(
    released(t, { dropIndexes: { ok: 0, code: 13, errmsg: 'not authorized' } }),
    /not authorized/,
  );
});

test('release: a replica set builds indexes with a majority; a server alone takes no quorum', async (t) => {
  const quorumOf = async (hello: object): Promise<unknown> =>
    (await released(t, { hello: { ...hello } })).find(has('createIndexes'))?.commitQuorum;
  equal(await quorumOf({ setName: 'rs', hosts: ['127.0.0.1:1'] }), 'majority');
  equal(await quorumOf({}), undefined);
});

test('release: documents are derived again by their ids, each looked at once a walk', async (t) => {
  const row = (n: number) => ({
    _id: `id${n}`,
    version: 1,
    value: JSON.stringify({ name: `${n}`, rank: n }),
  });
  const pages = [[row(1), row(2)], [row(3)]];
  const asked = await released(t, {
    find: () => things(...(pages.shift() ?? [])),
    update: { n: 2, nModified: 2 },
  });
  deepEqual(
    asked.filter(has('find')).map(({ sort, filter }) => [sort, filter._id]),
    [
      [{ _id: 1 }, undefined],
      [{ _id: 1 }, { $gt: 'id2' }],
      [{ _id: 1 }, { $gt: 'id3' }],
      [{ _id: 1 }, undefined],
    ],
  );
});

test('start: credentials that a provider refuses in its own way (code 8000) are not tried again', async (t) => {
  const server = await standIn(t, {
    saslStart: { ok: 0, code: 8000, codeName: 'AtlasError', errmsg: 'bad auth' },
  });
  const uri = `mongodb://user:secret@${server.host}/test?directConnection=true&serverMonitoringMode=poll&authMechanism=PLAIN`;
  await rejects(openConnection({ uri, startTimeoutMs: 2_000 }), /cannot be reached: bad auth/);
  equal(server.asked.filter(has('saslStart')).length, 1);
});
