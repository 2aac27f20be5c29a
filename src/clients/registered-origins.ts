// The origins of all applications together, as far as this process has read them: for counting what their pages send, which is no
// authority. An origin that nobody has registered costs a reading of all applications, so that is done seldom.
import type { Clock } from '../clock.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { pagesOf } from '../store/walk.ts';
import { originsOf } from './origins.ts';

const READ_EVERY_MS = 10_000;
/** Of a reading's own time: with very many applications it is done more seldom. */
const REST = 50;

/** Whether some active application has the origin; one that was registered a moment ago may be unknown still. */
export type IsRegisteredOrigin = (origin: string) => Promise<boolean>;

interface Deps {
  readonly collection: Pick<Collection<ClientRecord>, 'query'>;
  readonly clock: Clock;
}

export function createRegisteredOrigins({ collection, clock }: Deps): IsRegisteredOrigin {
  let known: ReadonlySet<string> = new Set();
  let isFreshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const startedAt = performance.now();
    const found = new Set<string>();
    const isActive = { field: 'is_active', op: 'eq', value: true } as const;
    for await (const items of pagesOf(collection, { filters: [isActive], limit: 1000 }))
      for (const { value } of items) for (const origin of originsOf(value)) found.add(origin);
    known = found;
    isFreshUntil = clock() + Math.max(READ_EVERY_MS, (performance.now() - startedAt) * REST);
  }

  return async (origin) => {
    // The clock may have been set back.
    const isFresh = isFreshUntil > clock() && isFreshUntil - clock() < 1000 * READ_EVERY_MS;
    if (known.has(origin) || isFresh) return known.has(origin);
    reading ??= read().finally(() => {
      reading = undefined;
    });
    // While the store is away, nobody's.
    await reading.catch(() => undefined);
    return known.has(origin);
  };
}
