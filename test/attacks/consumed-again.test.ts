// Attack: presenting used, expired or invented codes and tokens again, at the adapter of the protocol core,
// over each store and over two processes of it. Races for them are race-for-a-*.test.ts.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { createOidcAdapter } from '../../adapters/oidc.ts';
import { createRedisStore } from '../../adapters/redis/store.ts';
import { createSplitStore } from '../../adapters/split.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { Store } from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

const START = 1_800_000_000_000;
let now = START;
const clock = (): number => now;
const ephemeral = allCollections.filter(({ durability }) => durability === 'ephemeral');

/** What makes one store, and another process's over the same data. */
const backends: Readonly<Record<string, () => Promise<{ open(): Promise<Store>; close(): Promise<void> }>>> =
  {
    async memory() {
      // There is one process only.
      const store = createMemoryStore({ clock });
      return { open: async () => store, close: async () => undefined };
    },
    async sqlite() {
      const folder = await mkdtemp(join(tmpdir(), 'latchkey-consumed-'));
      const file = join(folder, 'test.db');
      return {
        open: async () => createSqliteStore({ file, clock, definitions: allCollections }),
        close: () => rm(folder, { recursive: true }),
      };
    },
    async 'mongodb and redis'() {
      const [mongo, redis]: [MongoServer, RedisServer] = [await startMongoServer(), await startRedis()];
      const uri = mongo.freshUri();
      return {
        async open() {
          const durable = await createMongoStore({
            uri,
            clock,
            definitions: allCollections,
            timeoutMs: 30_000,
          });
          const short = await createRedisStore({ url: redis.url, clock, definitions: ephemeral });
          return createSplitStore({
            durable: { name: 'mongodb', store: durable },
            ephemeral: { name: 'redis', store: short },
            clock,
            changes: short.changes,
            announced: [],
          });
        },
        async close() {
          await Promise.all([mongo.stop(), redis.stop()]);
        },
      };
    },
  };

const isRefused = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'error') === 'invalid_grant';

for (const [name, start] of Object.entries(backends)) {
  describe(`consumed again, ${name}`, () => {
    let backend: Awaited<ReturnType<typeof start>>;
    let stores: Store[] = [];
    let one: ReturnType<typeof createOidcAdapter>;
    let other: ReturnType<typeof createOidcAdapter>;
    before(async () => {
      backend = await start();
      stores = [await backend.open(), await backend.open()];
      const [first, second] = stores.map((store) => createOidcAdapter({ store, clock }));
      if (first === undefined || second === undefined) throw new Error('two are needed');
      [one, other] = [first, second];
    });
    after(async () => {
      for (const store of new Set(stores)) await store.close();
      await backend?.close();
    });

    for (const kind of ['AuthorizationCode', 'RefreshToken', 'DeviceCode']) {
      test(`${kind}: a missing, a used and an expired one are invalid_grant`, async () => {
        const codes = one(kind);
        await rejects(codes.consume('nobody'), isRefused);
        await codes.upsert('a'.repeat(43), { grantId: 'g', kind }, 60);
        await codes.consume('a'.repeat(43));
        await rejects(codes.consume('a'.repeat(43)), isRefused);
        await rejects(other(kind).consume('a'.repeat(43)), isRefused, 'in another process');
        await codes.upsert('b'.repeat(43), { grantId: 'g', kind }, 60);
        now += 60_001;
        await rejects(codes.consume('b'.repeat(43)), isRefused, 'its time is over');
        await rejects(other(kind).consume('b'.repeat(43)), isRefused);
      });

      test(`${kind}: using it does not extend its life`, async () => {
        const codes = one(kind);
        await codes.upsert('c'.repeat(43), { grantId: 'g', kind }, 60);
        now += 50_000;
        await codes.consume('c'.repeat(43));
        equal(
          typeof (await other(kind).find('c'.repeat(43)))?.consumed,
          'number',
          'kept: its reuse must be seen',
        );
        now += 9_000;
        equal((await codes.find('c'.repeat(43)))?.grantId, 'g');
        now += 1_001;
        deepEqual(
          [await codes.find('c'.repeat(43)), await other(kind).find('c'.repeat(43))],
          [undefined, undefined],
        );
      });
    }

    test('ReplayDetection: the second of two equal ids is refused in every process until it expires', async () => {
      const jti = 'd'.repeat(43);
      const seen = { iss: 'client' };
      await one('ReplayDetection').upsert(jti, seen, 60);
      for (const adapter of [one, other]) {
        await rejects(
          adapter('ReplayDetection').upsert(jti, seen, 60),
          (error) =>
            error instanceof Error && /used before/.test(String(Reflect.get(error, 'error_description'))),
        );
      }
      now += 60_001;
      await other('ReplayDetection').upsert(jti, seen, 60);
    });

    test('PushedAuthorizationRequest: a used one is no longer a valid request_uri', async () => {
      const pushed = one('PushedAuthorizationRequest');
      await pushed.upsert('e'.repeat(43), { request: 'x' }, 60);
      await pushed.consume('e'.repeat(43));
      for (const adapter of [one, other])
        await rejects(
          adapter('PushedAuthorizationRequest').consume('e'.repeat(43)),
          (error) => error instanceof Error && Reflect.get(error, 'error') === 'invalid_request_uri',
        );
    });
  });
}
