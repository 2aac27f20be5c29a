// What this product counts of itself for Prometheus: what it counts of recorded events and tokens (metrics.ts, where to start),
// how long the store takes (timed-store.ts), and a little that the store is asked at a scrape. It only listens: nothing waits
// for a number. Who may read them is src/http/metrics.ts.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { eventNames, eventRows } from '../model/events/events.ts';
import * as model from '../store/collections.ts';
import { lockedFilters } from '../store/locked-accounts.ts';
import type { FieldFilter, Store } from '../store/port.ts';
import { createMetrics } from './metrics.ts';
import { timedStore } from './timed-store.ts';

export type { Metrics } from './metrics.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Pick<Events, 'on'>;
  readonly config: { readonly baseUrl: string };
  readonly version: string;
  readonly worker?: string;
}

/** However often Prometheus scrapes, the store is asked this seldom, and not waited for longer than that. */
const MAX_AGE_MS = 15_000;
const PATIENCE_MS = 1_000;

type Read = () => Promise<number | undefined>;

/** @returns a function that answers undefined while the store does not */
function seldom(read: () => Promise<number>): Read {
  let answer: Promise<number | undefined> | undefined;
  let askedAt = 0;
  return async () => {
    const now = performance.now();
    if (answer === undefined || now - askedAt > MAX_AGE_MS) {
      askedAt = now;
      answer = read().catch(() => undefined);
    }
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
  };
}

/** @returns the metrics, and the same store with its answers timed */
export function createAppMetrics({ store, clock, events, config, version, worker = '0' }: Deps) {
  const basePath = new URL(config.baseUrl).pathname.replace(/\/$/, '');
  const metrics = createMetrics({ version, worker, basePath });
  for (const name of eventNames) if (eventRows[name].counter !== undefined) events.on(name, metrics.event);
  events.on('tokensIssued', ({ grantType }) => metrics.issued(grantType));
  events.on('tokensRefreshed', () => metrics.issued('refresh_token'));
  events.on('machineTokensIssued', () => metrics.issued('client_credentials'));
  events.on('tokensRefused', ({ endpoint, error }) => metrics.refused(endpoint, error));
  const count = async (
    collection: Pick<ReturnType<Store['collection']>, 'query'>,
    ...filters: FieldFilter[]
  ): Promise<number> => (await collection.query({ filters, sort: 'id', order: 'asc', limit: 1 })).total;
  metrics.gauge(
    'latchkey_mails_queued',
    'Mails that wait to be sent, over all processes.',
    seldom(() => count(store.collection(model.mails), { field: 'state', op: 'eq', value: 'queued' })),
  );
  metrics.gauge(
    'latchkey_accounts_locked',
    'Accounts that are locked for unknown browsers now, over all processes.',
    seldom(() => count(store.collection(model.accounts), ...lockedFilters(clock()))),
  );
  return { metrics, timed: timedStore(store, metrics) };
}
