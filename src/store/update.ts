// The one way to change a stored document: read, apply a pure function, replace; after a version conflict, repeat.
import { type EphemeralCollection, type ReplaceOptions, type Stored, VersionConflict } from './port.ts';

/** Result of the change function: the new value (and optionally a new expiry), or undefined for "no change". */
export type Change<T> = { readonly value: T; readonly expiresAt?: number | null | undefined } | undefined;

// Each lost round means that another writer succeeded, so the loop ends; the bound only turns a bug into an error.
const MAX_ROUNDS = 1000;

/**
 * @param change pure; called again with the newer value after a conflict
 * @returns the document after the call, or undefined if there is none (it is never created)
 */
export async function update<T>(
  collection: EphemeralCollection<T>,
  id: string,
  change: (value: T, stored: Stored<T>) => Change<T>,
): Promise<Stored<T> | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const stored = await collection.find(id);
    if (stored === undefined) return undefined;
    const next = change(stored.value, stored);
    if (next === undefined) return stored;
    const options: ReplaceOptions = next.expiresAt === undefined ? {} : { expiresAt: next.expiresAt };
    try {
      return await collection.replace(id, stored.version, next.value, options);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new Error(`update of ${id}: no progress after ${MAX_ROUNDS} rounds`);
}
