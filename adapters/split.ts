// Owns a store over two backends: what is durable in one, what always expires in the other. Which collection lies where
// is said by its definition alone, so nothing ever has two homes.
import type { Clock } from '../src/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  StoreUnavailable,
} from '../src/store/port.ts';

/** One of the two, and what an operator calls it. */
export interface Half<S> {
  readonly name: string;
  readonly store: S;
}

/** How processes tell each other that something they keep in memory was changed. */
export interface Changes {
  /** Said after a write that others must see. */
  announce(): void;
  /** Differs from the last one seen if somebody may have announced something; undefined: cannot tell. */
  stamp(): number | undefined;
}

export interface SplitStoreOptions {
  readonly durable: Half<Store>;
  readonly ephemeral: Half<Omit<Store, 'collection'>>;
  readonly clock: Clock;
  /** Without it, `stamp` cannot tell. */
  readonly changes?: Changes | undefined;
  /** Collections that processes keep in memory: a write to one is announced. */
  readonly announced?: readonly string[] | undefined;
}

// A process may die between its write and the announcement: so late does everybody look by itself.
const LOOK_ANYWAY_MS = 5_000;

/** Tells after every write that succeeded; one that failed may have happened, so after that, too. */
function announcing<T>(inner: Collection<T>, announce: () => void): Collection<T> {
  const told = <A extends unknown[], R>(act: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      try {
        return await act(...args);
      } finally {
        announce();
      }
    };
  };
  return {
    ...inner,
    insert: told(inner.insert),
    put: told(inner.put),
    replace: told(inner.replace),
    remove: told(inner.remove),
    removeBy: told(inner.removeBy),
  };
}

/** @throws StoreUnavailable that names every half that does not answer */
async function pingAll(halves: readonly Half<Pick<Store, 'ping'>>[]): Promise<void> {
  const answers = await Promise.allSettled(halves.map(({ store }) => store.ping()));
  const down = halves.filter((_, n) => answers[n]?.status === 'rejected').map(({ name }) => name);
  const cause = answers.find((answer) => answer.status === 'rejected')?.reason;
  if (down.length > 0) throw new StoreUnavailable(`${down.join(' and ')} cannot answer`, { cause, down });
}

export function createSplitStore(options: SplitStoreOptions): Store {
  const { durable, ephemeral, clock, changes, announced = [] } = options;

  function collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    const { name, durability } = definition;
    if (durability !== 'durable') throw new TypeError(`${name} is ephemeral, so it has no queries`);
    const inner = durable.store.collection(definition);
    return changes && announced.includes(name) ? announcing(inner, () => changes.announce()) : inner;
  }

  return {
    collection,

    ephemeral<T>(definition: CollectionDefinition<T>): EphemeralCollection<T> {
      return definition.durability === 'durable'
        ? collection(definition)
        : ephemeral.store.ephemeral(definition);
    },

    async sweep(limit) {
      const removed = await durable.store.sweep(limit);
      return removed < limit ? removed + (await ephemeral.store.sweep(limit - removed)) : removed;
    },

    stamp() {
      const heard = changes?.stamp();
      return heard === undefined ? undefined : heard + Math.floor(clock() / LOOK_ANYWAY_MS);
    },

    ping: () => pingAll([durable, ephemeral]),

    async close() {
      // Both, also when one cannot: what is open would keep the process.
      const ends = await Promise.allSettled([ephemeral.store.close(), durable.store.close()]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
}
