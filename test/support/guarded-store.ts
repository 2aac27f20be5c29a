// A real store with a check before each call of a collection.
import type { Collection, CollectionDefinition, EphemeralCollection, Store } from '../../src/store/port.ts';

/** @param ask throws instead of what the collection would do, or keeps it waiting */
export function createGuardedStore(
  inner: Store,
  ask: (collection: string, method: string) => void | Promise<void>,
): Store {
  const guarded = <T extends object>(name: string, target: T): T =>
    new Proxy(target, {
      get(collection, method, receiver) {
        const member: unknown = Reflect.get(collection, method, receiver);
        if (typeof member !== 'function') return member;
        return async (...parameters: unknown[]) => {
          await ask(name, String(method));
          return Reflect.apply(member, collection, parameters);
        };
      },
    });
  return {
    collection: <T>(definition: CollectionDefinition<T>): Collection<T> =>
      guarded(definition.name, inner.collection(definition)),
    ephemeral: <T>(definition: CollectionDefinition<T>): EphemeralCollection<T> =>
      guarded(definition.name, inner.ephemeral(definition)),
    writeTogether: async (fill) =>
      inner.writeTogether((writes) =>
        fill({
          to(definition) {
            ask(definition.name, 'writeTogether');
            return writes.to(definition);
          },
        }),
      ),
    sweep: (limit) => inner.sweep(limit),
    stamp: () => inner.stamp(),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
}
