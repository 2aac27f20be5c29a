// What all backends share of writes that happen together (C16): gathering them, and for backends without a commit over them all
// the order that leaves the safe state.
import {
  AlreadyExists,
  type CollectionDefinition,
  type EphemeralCollection,
  type ReplaceOptions,
  type Stored,
  VersionConflict,
  type WriteOptions,
  type Writes,
} from '../src/store/port.ts';

/** Makes a backend's own form of each write. */
export interface Preparations<T, W> {
  insert(id: string, value: T, options?: WriteOptions): W;
  replace(id: string, version: number, value: T, options?: ReplaceOptions): W;
  remove(id: string): W;
}

/** @returns the writes in the order in which `fill` adds them. @throws TypeError when one document is written twice */
export function gather<W>(
  fill: (writes: Writes) => void,
  prepare: <T>(definition: CollectionDefinition<T>) => Preparations<T, W>,
): W[] {
  const gathered = new Map<string, W>();
  fill({
    to(definition) {
      const prepared = prepare(definition);
      const add = (id: string, write: W): void => {
        const document = `${definition.name}/${id}`;
        if (gathered.has(document)) throw new TypeError(`${document} is written twice at once`);
        gathered.set(document, write);
      };
      return {
        insert: (id, ...rest) => add(id, prepared.insert(id, ...rest)),
        replace: (id, ...rest) => add(id, prepared.replace(id, ...rest)),
        remove: (id) => add(id, prepared.remove(id)),
      };
    },
  });
  return [...gathered.values()];
}

/** A write that can be looked at, done and taken back by itself. */
export interface Step {
  readonly collection: string;
  readonly durability: CollectionDefinition<never>['durability'];
  /** @throws AlreadyExists, VersionConflict when it would be refused now */
  check(): Promise<void>;
  /** Does it, alone or beside others. */
  addTo(writes: Writes): void;
  undo(): Promise<unknown>;
}

function stepsOf<T>(
  definition: CollectionDefinition<T>,
  collection: EphemeralCollection<T>,
): Preparations<T, Step> {
  const { name, durability } = definition;
  const step = (rest: Omit<Step, 'collection' | 'durability'>): Step => ({
    collection: name,
    durability,
    ...rest,
  });
  const expiryOf = ({ expiresAt }: Stored<T>) => ({ expiresAt: expiresAt ?? null });
  return {
    insert: (id, value, options) =>
      step({
        async check() {
          if (await collection.find(id)) throw new AlreadyExists(name, 'id');
        },
        addTo: (writes) => writes.to(definition).insert(id, value, options),
        undo: () => collection.remove(id),
      }),

    replace(id, version, value, options) {
      let before: Stored<T> | undefined;
      return step({
        async check() {
          before = await collection.find(id);
          if (before?.version !== version) throw new VersionConflict(name, id, version);
        },
        addTo: (writes) => writes.to(definition).replace(id, version, value, options),
        async undo() {
          if (before) await collection.replace(id, version + 1, before.value, expiryOf(before));
        },
      });
    },

    remove(id) {
      let before: Stored<T> | undefined;
      return step({
        async check() {
          before = await collection.find(id);
        },
        addTo: (writes) => writes.to(definition).remove(id),
        async undo() {
          if (before) await collection.insert(id, before.value, { expiresAt: before.expiresAt });
        },
      });
    },
  };
}

export const gatherSteps = (
  fill: (writes: Writes) => void,
  open: <T>(definition: CollectionDefinition<T>) => EphemeralCollection<T>,
): Step[] => gather(fill, (definition) => stepsOf(definition, open(definition)));

const isRefusal = (error: unknown): boolean =>
  error instanceof AlreadyExists || error instanceof VersionConflict;

/**
 * The first group alone, since it decides, then the others at once. A refusal takes back what was written. After a failure of
 * the store nothing is taken back: a consumed token stays consumed, and nobody has been told the rest.
 * @param commit writes one group
 */
export async function writeInOrder(
  [first = [], ...others]: readonly (readonly Step[])[],
  commit: (group: readonly Step[]) => Promise<void>,
): Promise<void> {
  if (others.length === 0) return commit(first);
  await Promise.all([first, ...others].flat().map((step) => step.check()));
  await commit(first);
  const outcomes = await Promise.allSettled(others.map(commit));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (failures.length === 0) return;
  if (failures.every(isRefusal)) {
    const written = others.filter((_, n) => outcomes[n]?.status === 'fulfilled');
    // The first is free again only when nothing is left of the rest.
    for (const step of [...written.toReversed(), first].flat()) await step.undo();
  }
  throw failures.find(isRefusal) ?? failures[0];
}

/** One document is one group: for backends whose commits are of one document. */
export const writeEach = (
  fill: (writes: Writes) => void,
  open: <T>(definition: CollectionDefinition<T>) => EphemeralCollection<T>,
): Promise<void> =>
  writeInOrder(
    gatherSteps(fill, open).map((step) => [step]),
    async (group) => {
      const acts: Promise<unknown>[] = [];
      const add = (act: Promise<unknown>): void => {
        acts.push(act);
      };
      for (const step of group) {
        step.addTo({
          to(definition) {
            const collection = open(definition);
            return {
              insert: (...write) => add(collection.insert(...write)),
              replace: (...write) => add(collection.replace(...write)),
              remove: (id) => add(collection.remove(id)),
            };
          },
        });
      }
      await Promise.all(acts);
    },
  );
