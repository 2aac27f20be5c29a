// Owns where the metrics come from (create-app.ts builds the rest): they stand beside the audit log, the token log and the
// store, which know nothing of them, and ask the store a little when somebody scrapes.
import type { Audit } from '../audit/audit.ts';
import type { TokenLog } from '../audit/token-log.ts';
import type { Clock } from '../clock.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { timedStore } from '../metrics/timed-store.ts';
import * as model from '../store/collections.ts';
import type { FieldFilter, Store } from '../store/port.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: { readonly baseUrl: string };
  readonly version: string;
  readonly worker?: string;
}

/** However often somebody scrapes, the store is asked this seldom, and not waited for longer than that. */
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

export function createAppMetrics({ store, clock, config, version, worker = '0' }: Deps) {
  const basePath = new URL(config.baseUrl).pathname.replace(/\/$/, '');
  const metrics = createMetrics({ version, worker, basePath });
  const count = async (
    collection: Pick<ReturnType<Store['collection']>, 'query'>,
    filter: FieldFilter,
  ): Promise<number> =>
    (await collection.query({ filters: [filter], sort: 'id', order: 'asc', limit: 1 })).total;
  metrics.gauge(
    'latchkey_mails_queued',
    'Mails that wait to be sent, over all processes.',
    seldom(() => count(store.collection(model.mails), { field: 'state', op: 'eq', value: 'queued' })),
  );
  metrics.gauge(
    'latchkey_accounts_locked',
    'Accounts that are locked for unknown browsers now, over all processes.',
    seldom(() =>
      count(store.collection(model.accounts), { field: 'locked_until', op: 'gte', value: clock() }),
    ),
  );
  return { metrics, timed: timedStore(store, metrics) };
}

/** Counts what is written down. A sign-in that could not be is none. */
export const countedAudit = (audit: Audit, metrics: Pick<Metrics, 'event'>): Audit => ({
  ...audit,
  async write(event) {
    await audit.write(event);
    metrics.event(event);
  },
  note(event) {
    metrics.event(event);
    audit.note(event);
  },
});

const COUNTED = {
  'token.refreshed': 'refresh_token',
  'token.machine_issued': 'client_credentials',
} as const;

export const countedTokens = (log: TokenLog, metrics: Pick<Metrics, 'issued' | 'refused'>): TokenLog => ({
  ...log,
  issued(tokens) {
    metrics.issued(tokens.grantType);
    log.issued(tokens);
  },
  counted(event, clientId) {
    metrics.issued(COUNTED[event]);
    log.counted(event, clientId);
  },
  refused(request) {
    metrics.refused(request.endpoint, request.error);
    log.refused(request);
  },
});
