// The SQLite store keeps the storage contract.
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import type { Store } from '../../src/store/port.ts';
import { storeContract } from './contract.ts';
import type { Backend } from './contract-fixture.ts';
import { temporaryDirectory } from './sqlite-support.ts';

async function createBackend(): Promise<Backend> {
  const directory = await temporaryDirectory();
  const stores: Store[] = [];
  let now = 1_800_000_000_000;
  const open = (): Store => {
    const store = createSqliteStore({ file: `${directory.path}/contract.db`, clock: () => now });
    stores.push(store);
    return store;
  };
  return {
    store: open(),
    now: () => now,
    advance(ms) {
      now += ms;
    },
    reopen: async () => open(),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await directory.remove();
    },
  };
}

storeContract('sqlite', createBackend);
