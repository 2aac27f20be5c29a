// Copies every document of one store to another and verifies that both are equal.
import { createHash } from 'node:crypto';
import { allCollections } from '../../src/store/all-collections.ts';
import { facts, leases } from '../../src/store/collections.ts';
import type { CollectionDefinition, Store, Stored } from '../../src/store/port.ts';
import { pagesOf } from '../../src/store/walk.ts';

/** The target of a copy. */
export interface Target {
  /** Writes them unchanged; repeating it changes nothing. */
  load<T>(definition: CollectionDefinition<T>, documents: readonly Stored<T>[]): Promise<void>;
  readonly store: Store;
  /** All documents of a collection in the order of their ids; undefined where the target cannot list them. */
  pagesOf<T>(definition: CollectionDefinition<T>): AsyncIterable<Stored<T>[]> | undefined;
}

export interface Copied {
  readonly name: string;
  readonly count: number;
  /** SHA-256 over all documents in the order of their ids. */
  readonly digest: string;
}

/** The copy differs from its source. */
export class CopyDiffers extends Error {
  override readonly name = 'CopyDiffers';
}

const PAGE = 1_000;
const AT_ONCE = 20;
// Large steps, since each waits for a majority write; bounded, because of memory and of how long Ctrl-C waits for one.
const STEP_DOCUMENTS = 5_000;
const STEP_CHARACTERS = 8_000_000;

/** Not copied: the mark of a copy, which exists in the target only, and leases of running jobs. */
export const COPY_MARK = 'copied_from_embedded';
export const copiedCollections = allCollections.filter(({ name }) => name !== leases.name);

const isOurs = (definition: CollectionDefinition<never>, { id }: Stored<unknown>): boolean =>
  !(definition.name === facts.name && id === COPY_MARK);

const everyPage = <T>(store: Store, definition: CollectionDefinition<T>): AsyncGenerator<Stored<T>[]> =>
  pagesOf(store.collection(definition), { limit: PAGE });

async function* stepsOf<T>(pages: AsyncIterable<Stored<T>[]>): AsyncGenerator<Stored<T>[]> {
  let step: Stored<T>[] = [];
  let characters = 0;
  for await (const page of pages) {
    step.push(...page);
    characters += JSON.stringify(page).length;
    if (step.length < STEP_DOCUMENTS && characters < STEP_CHARACTERS) continue;
    yield step;
    step = [];
    characters = 0;
  }
  if (step.length > 0) yield step;
}

/** Looks up each document of the source in a target that cannot list its own. */
async function* counterpartsOf<T>(
  source: Store,
  { store }: Target,
  definition: CollectionDefinition<T>,
): AsyncGenerator<Stored<T>[]> {
  const collection = store.ephemeral(definition);
  for await (const page of everyPage(source, definition)) {
    const found: (Stored<T> | undefined)[] = [];
    for (let at = 0; at < page.length; at += AT_ONCE) {
      found.push(...(await Promise.all(page.slice(at, at + AT_ONCE).map(({ id }) => collection.find(id)))));
    }
    yield found.filter((stored) => stored !== undefined);
  }
}

/** Without versions: a store may restart them. */
async function digestOf<T>(
  definition: CollectionDefinition<T>,
  pages: AsyncIterable<Stored<T>[]>,
  watch?: Watch,
): Promise<Omit<Copied, 'name'>> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const page of pages) {
    for (const stored of page) {
      if (!isOurs(definition, stored)) continue;
      const { id, expiresAt, value } = stored;
      hash.update(`${JSON.stringify([id, expiresAt ?? null, value])}\n`);
      count += 1;
    }
    watch?.check();
    watch?.say(count);
  }
  return { count, digest: hash.digest('hex') };
}

/** @returns SHA-256 over everything that is copied; changes with any added, changed or removed document */
export async function digestOfAll(source: Store, watch?: Watch): Promise<string> {
  const hash = createHash('sha256');
  let before = 0;
  const all = watch && { ...watch, say: (count: number) => watch.say(before + count) };
  for (const definition of copiedCollections) {
    const { digest, count } = await digestOf(definition, everyPage(source, definition), all);
    before += count;
    hash.update(`${definition.name} ${digest}\n`);
  }
  return hash.digest('hex');
}

/** How many documents a source has, by collection. */
export async function countAll(source: Store): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const definition of copiedCollections) {
    const { total } = await source.collection(definition).query({ sort: 'id', order: 'asc', limit: 1 });
    counts.set(definition.name, total);
  }
  return counts;
}

export interface Watch {
  /** @param count of this collection so far */
  readonly say: (count: number) => void;
  /** Called between steps; throws to stop there. */
  readonly check: () => void;
}

export async function copyCollection<T>(
  source: Store,
  target: Target,
  definition: CollectionDefinition<T>,
  { say, check }: Watch,
): Promise<void> {
  let count = 0;
  for await (const step of stepsOf(everyPage(source, definition))) {
    check();
    await target.load(
      definition,
      step.filter((stored) => isOurs(definition, stored)),
    );
    count += step.length;
    say(count);
  }
}

/** @throws CopyDiffers when the target's documents are not exactly the source's */
export async function verifyCollection<T>(
  source: Store,
  target: Target,
  definition: CollectionDefinition<T>,
  watch: Watch,
): Promise<Copied> {
  const { name } = definition;
  const listed = target.pagesOf(definition) ?? counterpartsOf(source, target, definition);
  // Together, so that what is told is how far both are.
  const [wanted, found] = await Promise.all([
    digestOf(definition, everyPage(source, definition)),
    digestOf(definition, listed, watch),
  ]);
  if (found.count !== wanted.count) {
    throw new CopyDiffers(`${name}: ${wanted.count} documents in the source, ${found.count} in the copy`);
  }
  if (found.digest !== wanted.digest) throw new CopyDiffers(`${name}: the documents differ in content`);
  return { name, ...wanted };
}
