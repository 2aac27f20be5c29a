// The in-memory reference store keeps the storage contract, in both halves.
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { storeContract } from './contract.ts';
import type { Backend } from './contract-fixture.ts';

async function createBackend(): Promise<Backend> {
  let now = 1_800_000_000_000;
  const store = createMemoryStore({ clock: () => now });
  return {
    store,
    now: () => now,
    advance(ms) {
      now += ms;
    },
    close: () => store.close(),
  };
}

storeContract('memory', createBackend);
storeContract('memory, ephemeral half', createBackend, { hasQuery: false });
