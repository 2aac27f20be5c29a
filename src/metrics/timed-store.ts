// A store that reports the duration of each operation by kind.
import {
  type Collection,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  StoreUnavailable,
} from '../store/port.ts';
import type { Metrics } from './metrics.ts';

/** The promise is passed on unchanged, so that timing delays no caller. */
export function timedStore(store: Store, { stored }: Pick<Metrics, 'stored'>): Store {
  function timed<R>(kind: 'read' | 'write' | 'query', ask: () => Promise<R>): Promise<R> {
    const startedAt = performance.now();
    const answer = ask();
    answer.then(
      () => stored(kind, performance.now() - startedAt, false),
      (error: unknown) => stored(kind, performance.now() - startedAt, error instanceof StoreUnavailable),
    );
    return answer;
  }
  const sharing = <T>(find: EphemeralCollection<T>['findShared']) =>
    find && { findShared: (id: string) => timed('read', () => find(id)) };
  const ephemeral = <T>(of: EphemeralCollection<T>): EphemeralCollection<T> => ({
    find: (id) => timed('read', () => of.find(id)),
    ...sharing(of.findShared),
    findBy: (index, key) => timed('read', () => of.findBy(index, key)),
    insert: (...all) => timed('write', () => of.insert(...all)),
    put: (...all) => timed('write', () => of.put(...all)),
    replace: (...all) => timed('write', () => of.replace(...all)),
    remove: (id) => timed('write', () => of.remove(id)),
    removeBy: (index, key) => timed('write', () => of.removeBy(index, key)),
  });
  return {
    collection<T>(definition: CollectionDefinition<T>): Collection<T> {
      const of = store.collection(definition);
      return { ...ephemeral(of), query: (query) => timed('query', () => of.query(query)) };
    },
    ephemeral: (definition) => ephemeral(store.ephemeral(definition)),
    writeTogether: (fill) => timed('write', () => store.writeTogether(fill)),
    sweep: (limit) => store.sweep(limit),
    stamp: () => store.stamp(),
    ports: () => store.ports?.() ?? [],
    ping: () => store.ping(),
    close: () => store.close(),
  };
}
