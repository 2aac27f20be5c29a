// Owns which backend a deployment gets, and makes its place ready. A driver is loaded only when it is chosen.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../src/clock.ts';
import type { Config } from '../src/config/types.ts';
import { allCollections } from '../src/store/all-collections.ts';
import { type Store, StoreUnavailable } from '../src/store/port.ts';

export interface OpenStoreOptions {
  readonly config: Pick<Config, 'dataDir'>;
  readonly clock: Clock;
}

const OWNER_ONLY = 0o700;

/** @throws StoreUnavailable that names the directory when it cannot be made or written */
export async function openStore({ config: { dataDir }, clock }: OpenStoreOptions): Promise<Store> {
  try {
    await mkdir(dataDir, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The data directory ${dataDir} cannot be created: ${reason}`, {
      cause: error,
    });
  }
  const { createSqliteStore } = await import('./sqlite.ts');
  return createSqliteStore({ file: join(dataDir, 'latchkey.db'), clock, definitions: allCollections });
}
