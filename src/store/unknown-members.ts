// What a newer version has stored and this one doesn't know stays: a document that is read, changed and replaced keeps the members that
// are not in its list (known-members.ts), however the code in between made the new value. A read that meets one remembers the
// collection; only there a replacement reads again what it replaces, so that nothing is asked for otherwise.
import { isMembers, memberOf } from '../json.ts';
import type {
  Collection,
  CollectionDefinition,
  CollectionWrites,
  EphemeralCollection,
  Store,
  Stored,
  Writes,
} from './port.ts';

/**
 * What this version knows of a value: `true` of what is replaced as a whole, the members of an object, or of a list the member that
 * tells its elements apart, and theirs. A set: the names of members that are replaced as a whole.
 */
export type KnownMembers =
  | true
  | ReadonlySet<string>
  | { readonly [name: string]: KnownMembers }
  | readonly [by: string, of: KnownMembers];

type Part<V> =
  | true
  | (V extends readonly (infer E)[]
      ? E extends object
        ? readonly [by: keyof E & string, of: Members<E>]
        : never
      : V extends object
        ? Members<V> | ReadonlySet<string>
        : never);

/** For `satisfies`: each member of the type is in the list. */
export type Members<T> = { readonly [Name in keyof T]-?: Part<NonNullable<T[Name]>> };

type Json = Readonly<Record<string, unknown>>;

const isList = (known: KnownMembers): known is readonly [string, KnownMembers] => Array.isArray(known);

const isSet = (known: KnownMembers): known is ReadonlySet<string> => known instanceof Set;

const membersIn = (known: KnownMembers): Readonly<Record<string, KnownMembers>> =>
  known === true || isList(known)
    ? {}
    : isSet(known)
      ? Object.fromEntries([...known].map((name) => [name, true] as const))
      : known;

/** Whether there is anything in it, at any depth, that is not in the list. */
function hasUnknown(value: unknown, known: KnownMembers): boolean {
  if (known === true) return false;
  if (isList(known)) return Array.isArray(value) && value.some((one) => hasUnknown(one, known[1]));
  if (!isMembers(value)) return false;
  if (isSet(known)) return Object.keys(value).some((name) => !known.has(name));
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(known, name)) return true;
    const part = known[name];
    if (part !== undefined && part !== true && hasUnknown(value[name], part)) return true;
  }
  return false;
}

function keptIn(before: unknown, after: unknown, known: KnownMembers): unknown {
  if (known === true) return after;
  if (isList(known)) {
    const [by, of] = known;
    if (!Array.isArray(before) || !Array.isArray(after)) return after;
    return after.map((one: unknown) => {
      const same =
        isMembers(one) && before.find((other: unknown) => isMembers(other) && other[by] === one[by]);
      return same ? keptIn(same, one, of) : one;
    });
  }
  return isMembers(before) && isMembers(after) ? withUnknown(before, after, known) : after;
}

/** @returns `after` with what `before` has and the list doesn't name */
function withUnknown<T extends object>(before: Json, after: T, known: KnownMembers): T {
  const kept: T = { ...after };
  const members = membersIn(known);
  for (const [name, value] of Object.entries(before)) {
    const isNew = !Object.hasOwn(after, name);
    if (!Object.hasOwn(members, name)) {
      if (isNew) Object.assign(kept, { [name]: value });
      continue;
    }
    const part = members[name];
    if (isNew || part === undefined || part === true) continue;
    Object.assign(kept, { [name]: keptIn(value, memberOf(after, name), part) });
  }
  return kept;
}

/** @param knownOf undefined for what is never read and written back */
export function keepingUnknown(
  store: Store,
  knownOf: (collection: string) => KnownMembers | undefined,
): Store {
  /** Names of collections in which such a member was met. */
  const met = new Set<string>();

  function watch<T>({ name }: CollectionDefinition<T>, known: KnownMembers) {
    return (...found: readonly (Stored<T> | undefined)[]): void => {
      if (met.has(name)) return;
      if (found.some((one) => one !== undefined && hasUnknown(one.value, known))) met.add(name);
    };
  }

  /** @returns the value to write in place of that version; of another one nothing will be written */
  async function completed<T>(
    of: EphemeralCollection<T>,
    known: KnownMembers,
    { id, version, value }: Stored<T>,
  ): Promise<T> {
    const before = await of.find(id);
    if (before?.version !== version) return value;
    const isWhole = typeof value !== 'object' || value === null || !isMembers(before.value);
    return isWhole ? value : withUnknown(before.value, value, known);
  }

  function keeping<T>(
    definition: CollectionDefinition<T>,
    known: KnownMembers,
    of: EphemeralCollection<T>,
  ): EphemeralCollection<T> {
    const { name } = definition;
    const seen = watch(definition, known);
    return {
      ...of,
      // Whoever asked hears of it after this, and the promise is passed on unchanged.
      find(id) {
        const answer = of.find(id);
        answer.then(seen, ignore);
        return answer;
      },
      findBy(index, key) {
        const answer = of.findBy(index, key);
        answer.then((found) => seen(...found), ignore);
        return answer;
      },
      async replace(id, version, value, options) {
        if (!met.has(name)) return of.replace(id, version, value, options);
        return of.replace(id, version, await completed(of, known, { id, version, value }), options);
      },
    };
  }

  function collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    const of = store.collection(definition);
    const known = knownOf(definition.name);
    if (known === undefined) return of;
    const seen = watch(definition, known);
    return {
      ...of,
      ...keeping(definition, known, of),
      query(query) {
        const answer = of.query(query);
        answer.then(({ items }) => seen(...items), ignore);
        return answer;
      },
    };
  }

  function ephemeral<T>(definition: CollectionDefinition<T>): EphemeralCollection<T> {
    const of = store.ephemeral(definition);
    const known = knownOf(definition.name);
    return known === undefined ? of : keeping(definition, known, of);
  }

  type Add = (writes: Writes) => void;

  /** The writes, each as it has to be: in the order of the calls. */
  function gathered(fill: (writes: Writes) => void): Promise<Add>[] {
    const acts: Promise<Add>[] = [];
    fill({
      to<T>(definition: CollectionDefinition<T>): CollectionWrites<T> {
        const known = met.has(definition.name) ? knownOf(definition.name) : undefined;
        const add = (act: Add): void => void acts.push(Promise.resolve(act));
        return {
          insert: (...write) => add((writes) => writes.to(definition).insert(...write)),
          remove: (id) => add((writes) => writes.to(definition).remove(id)),
          replace(id, version, value, options) {
            if (known === undefined)
              return add((writes) => writes.to(definition).replace(id, version, value, options));
            const of =
              definition.durability === 'durable'
                ? store.collection(definition)
                : store.ephemeral(definition);
            const whole = completed(of, known, { id, version, value });
            acts.push(
              whole.then((next) => (writes) => writes.to(definition).replace(id, version, next, options)),
            );
          },
        };
      },
    });
    return acts;
  }

  return {
    ...store,
    collection,
    ephemeral,
    async writeTogether(fill) {
      if (met.size === 0) return store.writeTogether(fill);
      const acts = await Promise.all(gathered(fill));
      return store.writeTogether((writes) => {
        for (const act of acts) act(writes);
      });
    },
  };
}

const ignore = (): void => undefined;
