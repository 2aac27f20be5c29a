// A store of which single collections can be made to fail, as when one of a database's disks or servers is down.
import { type Store, StoreUnavailable } from '../../src/store/port.ts';
import { createGuardedStore } from './guarded-store.ts';

export interface BreakableStore {
  readonly store: Store;
  /** Names of the collections that fail now. */
  readonly broken: Set<string>;
}

export function breakable(inner: Store): BreakableStore {
  const broken = new Set<string>();
  const store = createGuardedStore(inner, (name) => {
    if (broken.has(name)) throw new StoreUnavailable(`${name} is away`);
  });
  return { store, broken };
}
