// Owns a store of which single collections can be made to fail, as a database does when one of its disks or servers is
// away, while the rest goes on.
import {
  type Collection,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';

export interface BreakableStore {
  readonly store: Store;
  /** Names of the collections that fail now. */
  readonly broken: Set<string>;
}

export function breakable(inner: Store): BreakableStore {
  const broken = new Set<string>();
  const guarded = <T extends object>(name: string, target: T): T =>
    new Proxy(target, {
      get(collection, method, receiver) {
        const member: unknown = Reflect.get(collection, method, receiver);
        if (typeof member !== 'function') return member;
        return async (...parameters: unknown[]) => {
          if (broken.has(name)) throw new StoreUnavailable(`${name} is away`);
          return Reflect.apply(member, collection, parameters);
        };
      },
    });
  const store: Store = {
    collection: <T>(definition: CollectionDefinition<T>): Collection<T> =>
      guarded(definition.name, inner.collection(definition)),
    ephemeral: <T>(definition: CollectionDefinition<T>): EphemeralCollection<T> =>
      guarded(definition.name, inner.ephemeral(definition)),
    sweep: (limit) => inner.sweep(limit),
    stamp: () => inner.stamp(),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
  return { store, broken };
}
