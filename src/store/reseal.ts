// Re-encrypts, page by page, what an older SECRET_KEY sealed. Each document is written by compare-and-set, so this runs
// beside other work.
import type { Collection, FieldFilter, Store, Stored } from './port.ts';
import { update } from './update.ts';
import { pagesOf } from './walk.ts';

export interface ResealFigures {
  readonly resealed: number;
  /** Sealed with a SECRET_KEY that is not listed now. */
  readonly unreadable: number;
}

/** The part of keys/sealing.ts that is needed here. */
export interface Resealer {
  needsReseal(sealed: string): boolean;
  /** @returns undefined when no listed key opens it */
  reseal(purpose: string, sealed: string): string | undefined;
}

/** An AbortSignal, or one that also hears how far it is. */
export interface ResealRun {
  readonly aborted: boolean;
  /** @param done of the `total` documents that one domain may have sealed something in */
  onRead?(done: number, total: number): void;
}

/** What a domain sealed, sealed again with the newest key. */
export type Reseal = (
  deps: { readonly store: Pick<Store, 'collection'>; readonly sealer: Resealer },
  run: ResealRun,
) => Promise<ResealFigures>;

const PAGE = 200;
/** Written at the same time, so that they share one flush to the disk: one after another that is most of the time. */
const TOGETHER = 50;

/**
 * @param options.reseal returns the document sealed with the newest key, undefined if it already is, or throws Unreadable
 * @param run stops it early
 */
export async function resealAll<T>(
  options: {
    readonly collection: Collection<T>;
    readonly filters?: readonly FieldFilter[];
    readonly reseal: (value: T, id: string) => T | undefined;
  },
  run: ResealRun,
): Promise<ResealFigures> {
  const { collection, filters = [], reseal } = options;
  let [resealed, unreadable, read] = [0, 0, 0];
  const one = async ({ id, value }: Stored<T>): Promise<void> => {
    try {
      if (reseal(value, id) === undefined) return;
      await update(collection, id, (newest) => {
        const changed = reseal(newest, id);
        return changed === undefined ? undefined : { value: changed };
      });
      resealed += 1;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      unreadable += 1;
    }
  };
  // Counted only where somebody watches.
  const total = run.onRead && (await collection.query({ filters, sort: 'id', order: 'asc', limit: 1 })).total;
  for await (const items of pagesOf(collection, { filters, limit: PAGE })) {
    if (run.aborted) break;
    for (let from = 0; from < items.length; from += TOGETHER)
      await Promise.all(items.slice(from, from + TOGETHER).map(one));
    read += items.length;
    if (total !== undefined) run.onRead?.(read, total);
  }
  return { resealed, unreadable };
}

/** A value in the document was sealed with a SECRET_KEY that is no longer listed. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** @returns the text sealed with the newest key. @throws Unreadable */
export function resealText(sealer: Resealer, purpose: string, sealed: string): string {
  if (!sealer.needsReseal(sealed)) return sealed;
  const newest = sealer.reseal(purpose, sealed);
  if (newest === undefined) throw new Unreadable('sealed with a SECRET_KEY that is no longer listed');
  return newest;
}
