// A further key that another document has meanwhile as its key. Nothing that knows further keys lets that happen; an older version, beside
// which this one runs, does not know them (decision 0041). Whose key it is keeps it: the other document gives it up with its next write, which
// would otherwise fail from then on, at a sign-in first of all.
import { AlreadyExists, type Collection, type CollectionDefinition, type Store } from './port.ts';

export interface YieldedKey {
  readonly collection: string;
  readonly id: string;
  readonly key: string;
  /** The document that has it. */
  readonly holderId: string;
}

/** @returns undefined when the clash is another one */
async function yielded<T>(
  { name, indexes }: CollectionDefinition<T>,
  of: Collection<T>,
  { id, version, value }: { readonly id: string; readonly version: number; readonly value: T },
): Promise<{ readonly value: T; readonly keys: readonly YieldedKey[] } | undefined> {
  const before = await of.find(id);
  if (before?.version !== version) return undefined;
  const keys: YieldedKey[] = [];
  const left = structuredClone(value);
  for (const [index, { key, furtherKeys, dropFurther }] of Object.entries(indexes)) {
    if (furtherKeys === undefined || dropFurther === undefined) continue;
    // One that is new is refused as ever.
    const had = new Set(furtherKeys(before.value));
    const lost = new Set<string>();
    for (const further of furtherKeys(value).filter((one) => had.has(one) && one !== key(value))) {
      const holder = (await of.findBy(index, further)).find(
        (other) => other.id !== id && key(other.value) === further,
      );
      if (holder === undefined) continue;
      lost.add(further);
      keys.push({ collection: name, id, key: further, holderId: holder.id });
    }
    if (lost.size > 0) dropFurther(left, lost);
  }
  return keys.length === 0 ? undefined : { value: left, keys };
}

/** @param told after the write */
export function yieldingKeys(store: Store, told: (key: YieldedKey) => void): Store {
  return {
    ...store,
    collection<T>(definition: CollectionDefinition<T>): Collection<T> {
      const of = store.collection(definition);
      if (!Object.values(definition.indexes).some(({ dropFurther }) => dropFurther)) return of;
      return {
        ...of,
        async replace(id, version, value, options) {
          try {
            return await of.replace(id, version, value, options);
          } catch (error) {
            if (!(error instanceof AlreadyExists)) throw error;
            const next = await yielded(definition, of, { id, version, value });
            if (next === undefined) throw error;
            const stored = await of.replace(id, version, next.value, options);
            for (const key of next.keys) told(key);
            return stored;
          }
        },
      };
    },
  };
}
