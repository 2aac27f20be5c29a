// One store over two backends: durable collections in one, ephemeral ones in the other. A collection's definition alone
// decides where it is stored.
import type { Clock } from '../src/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  StoreUnavailable,
} from '../src/store/port.ts';
import { gatherSteps, writeInOrder } from './together.ts';

/** One of the two backends, and its name for operators. */
export interface Half<S> {
  readonly name: string;
  readonly store: S;
}

/** How processes notify each other of a change to cached data. */
export interface Changes {
  /** Call after a write that other processes must see. */
  announce(): void;
  /** Differs from the last value if another process may have announced a change; undefined: unknown. */
  stamp(): number | undefined;
}

export interface SplitStoreOptions {
  readonly durable: Half<Store>;
  readonly ephemeral: Half<Omit<Store, 'collection'>>;
  readonly clock: Clock;
  /** Without it, `stamp` is always undefined. */
  readonly changes?: Changes | undefined;
  /** Collections that processes cache: every write to one is announced. */
  readonly announced?: readonly string[] | undefined;
}

// A process may crash between its write and the announcement: every process reloads after this time anyway.
const FALLBACK_RELOAD_MS = 5_000;

/** Announces after every write, including failed ones: a write that failed with a timeout may have happened. */
function announcingWrites<T>(inner: Collection<T>, announce: () => void): Collection<T> {
  const thenAnnounce = <A extends unknown[], R>(act: (...args: A) => Promise<R>) => {
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
    insert: thenAnnounce(inner.insert),
    put: thenAnnounce(inner.put),
    replace: thenAnnounce(inner.replace),
    remove: thenAnnounce(inner.remove),
    removeBy: thenAnnounce(inner.removeBy),
  };
}

/** @throws StoreUnavailable that names every backend that does not respond */
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
    return changes && announced.includes(name) ? announcingWrites(inner, () => changes.announce()) : inner;
  }

  const open = <T>(definition: CollectionDefinition<T>): EphemeralCollection<T> =>
    definition.durability === 'durable' ? collection(definition) : ephemeral.store.ephemeral(definition);

  return {
    collection,
    ephemeral: open,

    async writeTogether(fill) {
      const steps = gatherSteps(fill, open);
      const decisive = steps[0]?.durability;
      const groups = [
        steps.filter(({ durability }) => durability === decisive),
        steps.filter(({ durability }) => durability !== decisive),
      ].filter((group) => group.length > 0);
      try {
        await writeInOrder(groups, (group) => {
          const half = group[0]?.durability === 'durable' ? durable : ephemeral;
          return half.store.writeTogether((writes) => {
            for (const step of group) step.addTo(writes);
          });
        });
      } finally {
        if (steps.some((step) => announced.includes(step.collection))) changes?.announce();
      }
    },

    async sweep(limit) {
      const removed = await durable.store.sweep(limit);
      return removed < limit ? removed + (await ephemeral.store.sweep(limit - removed)) : removed;
    },

    stamp() {
      const changeCount = changes?.stamp();
      return changeCount === undefined ? undefined : changeCount + Math.floor(clock() / FALLBACK_RELOAD_MS);
    },

    ports: () => [durable, ephemeral].flatMap(({ store }) => store.ports?.() ?? []),
    ping: () => pingAll([durable, ephemeral]),

    async close() {
      // Close both even if one fails: an open connection would keep the process alive.
      const results = await Promise.allSettled([ephemeral.store.close(), durable.store.close()]);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}
