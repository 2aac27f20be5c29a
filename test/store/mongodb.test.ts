// The MongoDB store keeps the storage contract.
import { after, before, describe } from 'node:test';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import type { Store } from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { testOnRealMongo } from '../support/real-mongodb.ts';
import { storeContract } from './contract.ts';
import type { Backend } from './contract-fixture.ts';

// Correctness on a busy machine is what is tested here; how long callers wait is for mongodb-outage.test.ts.
const PATIENCE_MS = 30_000;
// The npm package's server takes a time for each write that grows with the collection.
const CROWD = 300;

describe('mongodb', () => {
  let server: MongoServer;
  before(async () => {
    server = await startMongoServer();
  });
  after(() => server.stop());

  async function createBackend(): Promise<Backend> {
    const uri = server.freshUri();
    const stores: Store[] = [];
    let now = 1_800_000_000_000;
    const clock = (): number => now;
    const open = async (): Promise<Store> => {
      const store = await createMongoStore({ uri, clock, timeoutMs: PATIENCE_MS, countUpTo: CROWD - 1 });
      stores.push(store);
      return store;
    };
    return {
      store: await open(),
      now: () => now,
      advance(ms) {
        now += ms;
      },
      reopen: open,
      tries: process.env.MONGODB_TEST_URI === undefined ? 4 : 1,
      isInSteps: true,
      async close() {
        await Promise.all(stores.map((store) => store.close()));
      },
    };
  }

  storeContract('mongodb', createBackend, { crowd: CROWD, testOfLists: testOnRealMongo });
  // The same code and the same rules once more, by the narrower port.
  if (process.env.LONG === '1' || process.env.MONGODB_TEST_URI)
    storeContract('mongodb, ephemeral half', createBackend, {
      hasQuery: false,
      testOfLists: testOnRealMongo,
    });
});
