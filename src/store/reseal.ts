// Owns going through a whole collection to seal anew what an older SECRET_KEY sealed: page by page, each document by
// compare-and-set, so that it runs beside everything else. What is sealed in a document, and for what, its domain says.
import type { Collection, FieldFilter } from './port.ts';
import { update } from './update.ts';
import { pagesOf } from './walk.ts';

export interface ResealFigures {
  readonly resealed: number;
  /** Sealed with a SECRET_KEY that is not listed now. */
  readonly unreadable: number;
}

/** Encryption at rest, as far as it matters here. */
export interface Resealer {
  needsReseal(sealed: string): boolean;
  /** @returns undefined when no listed key opens it */
  reseal(purpose: string, sealed: string): string | undefined;
}

const PAGE = 200;

/**
 * @param options.reseal the document with everything sealed anew; undefined: it is as it should be; throws Unreadable
 * @param signal ends it early
 */
export async function resealAll<T>(
  options: {
    readonly collection: Collection<T>;
    readonly filters?: readonly FieldFilter[];
    readonly reseal: (value: T, id: string) => T | undefined;
  },
  signal: AbortSignal,
): Promise<ResealFigures> {
  const { collection, filters = [], reseal } = options;
  let [resealed, unreadable] = [0, 0];
  for await (const items of pagesOf(collection, { filters, limit: PAGE })) {
    if (signal.aborted) break;
    for (const { id, value } of items) {
      try {
        if (reseal(value, id) === undefined) continue;
        await update(collection, id, (newest) => {
          const changed = reseal(newest, id);
          return changed === undefined ? undefined : { value: changed };
        });
        resealed += 1;
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        unreadable += 1;
      }
    }
  }
  return { resealed, unreadable };
}

/** Something in the document was sealed with a SECRET_KEY that is not listed now. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** @returns the text as it should be stored. @throws Unreadable */
export function resealText(sealer: Resealer, purpose: string, sealed: string): string {
  if (!sealer.needsReseal(sealed)) return sealed;
  const again = sealer.reseal(purpose, sealed);
  if (again === undefined) throw new Unreadable('sealed with a SECRET_KEY that is not listed now');
  return again;
}
