// The token events of the audit log: a separate class with its own retention, because tokens are many. Issuing a
// token writes nothing: first issues are buffered in memory and written individually, refreshes and
// client-credentials issues are counted per client and hour, and refusals per client, reason and minute, because
// attackers can cause any number of them. `kill -9` loses the last FLUSH_MS. Revocation and reuse are rare and end
// something, so they go to the audit log itself at once (audit.ts). Contains ids only, no addresses and no names.
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { EventName, Signals } from '../events/index.ts';
import { createDelayedWrites } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import type { AuditRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Audit } from './audit.ts';
import { forgetEvents } from './forget-events.ts';

type IssuedTokens = Signals['tokensIssued'] & { readonly requestId?: string | undefined };

export interface TokenLog extends Audit {
  issued(tokens: IssuedTokens): void;
  /** Counts one refresh, one client-credentials token, or one sign-in with neither PKCE nor a nonce, of this client. */
  counted(event: 'token.refreshed' | 'token.machine_issued' | 'token.unguarded', clientId: string): void;
  refused(request: Signals['tokensRefused']): void;
  /** Writes the buffer. Never throws: what cannot be written stays in the buffer for the next flush. */
  flush(): Promise<void>;
  /** Writes the buffer and stops the timer. */
  close(): Promise<void>;
}

interface Deps {
  readonly collection: Collection<AuditRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Pick<Logger, 'warn'>;
  /** Default: FLUSH_MS. */
  readonly flushMs?: number;
}

export const FLUSH_MS = 3000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/**
 * Exceeded only while the store is unavailable; then the newest are dropped, and the program's log reports how many.
 */
const MAX_WAITING = 10_000;
/**
 * How many kinds of refusal (client, reason, endpoint) one process counts separately per minute; further ones share a
 * counter.
 */
const MAX_REFUSALS = 60;
const BATCH = 200;
const MAX_TEXT = 128;

interface Counter {
  readonly record: AuditRecord;
  count: number;
}

/** Sorts by time like the other ids (UUID version 7), and is the same in every process. */
function counterId(at: number, key: string): string {
  const time = at.toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(key).digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

const countOf = ({ details }: AuditRecord): number =>
  typeof details?.count === 'number' ? details.count : 0;

const withCount = (record: AuditRecord, count: number): AuditRecord => ({
  ...record,
  details: { ...record.details, count },
});

export function createTokenLog({ collection, clock, newId, log, flushMs = FLUSH_MS }: Deps): TokenLog {
  let waiting: { readonly id: string; readonly record: AuditRecord }[] = [];
  let counters = new Map<string, Counter>();
  let refusals = { minute: 0, keys: new Set<string>() };
  let dropped = 0;
  const { arm, flush, close } = createDelayedWrites({ delayMs: flushMs, write: writeCollected });

  function count(periodMs: number, key: string, record: Omit<AuditRecord, 'at'>): void {
    const at = Math.floor(clock() / periodMs) * periodMs;
    const id = counterId(at, key);
    const known = counters.get(id);
    if (known === undefined) counters.set(id, { record: { ...record, at }, count: 1 });
    else known.count += 1;
    arm();
  }

  /** Whether another kind of refusal may have its own counter in this minute. */
  function isCountedApart(key: string): boolean {
    const minute = Math.floor(clock() / MINUTE_MS);
    if (refusals.minute !== minute) refusals = { minute, keys: new Set() };
    if (!refusals.keys.has(key) && refusals.keys.size >= MAX_REFUSALS) return false;
    refusals.keys.add(key);
    return true;
  }

  async function add(id: string, { record, count: more }: Counter): Promise<void> {
    const raise = () =>
      update(collection, id, (value) => ({ value: withCount(value, countOf(value) + more) }));
    if ((await raise()) !== undefined) return;
    try {
      await collection.insert(id, withCount(record, more));
    } catch (error) {
      // Another process created this counter between our read and our write.
      if (!(error instanceof AlreadyExists)) throw error;
      await raise();
    }
  }

  async function insert(id: string, record: AuditRecord): Promise<void> {
    try {
      await collection.insert(id, record);
    } catch (error) {
      // An earlier attempt wrote it, but its response was lost.
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  /** @returns the first failure; what was not written stays in the buffer */
  async function write(): Promise<unknown> {
    const acts = [
      ...waiting.map((event) => ({
        run: () => insert(event.id, event.record),
        keep: () => void waiting.push(event),
      })),
      ...[...counters].map(([id, counter]) => ({
        run: () => add(id, counter),
        keep: () =>
          void counters.set(id, { ...counter, count: counter.count + (counters.get(id)?.count ?? 0) }),
      })),
    ];
    waiting = [];
    counters = new Map();
    // Concurrent writes share a commit; in batches, so that requests are served in between.
    for (let at = 0; at < acts.length; at += BATCH) {
      const batch = acts.slice(at, at + BATCH);
      const results = await Promise.allSettled(batch.map(({ run }) => run()));
      const failed = results.flatMap((result, index) =>
        result.status === 'rejected' ? [{ index, error: result.reason }] : [],
      );
      const [first] = failed;
      if (first === undefined) continue;
      for (const { index } of failed) batch[index]?.keep();
      for (const { keep } of acts.slice(at + BATCH)) keep();
      return first.error ?? new Error('not written');
    }
    return undefined;
  }

  function writeCollected(): Promise<void> | undefined {
    if (waiting.length === 0 && counters.size === 0) return undefined;
    return write().then((failure) => {
      if (failure === undefined) return;
      log.warn({ err: failure, waiting: waiting.length, dropped }, 'token events not written yet');
      dropped = 0;
      arm();
    });
  }

  return {
    issued({ clientId, accountId, grantId, grantType, scope, requestId }) {
      if (waiting.length >= MAX_WAITING) {
        dropped += 1;
        return;
      }
      const record: AuditRecord = {
        at: clock(),
        event: 'token.issued' satisfies EventName,
        outcome: 'success',
        actorKind: 'client',
        actorId: clientId,
        clientId,
        ...(accountId !== undefined && { targetKind: 'user', targetId: accountId }),
        ...(requestId !== undefined && { requestId }),
        details: {
          grant_type: grantType,
          ...(grantId !== undefined && { grant: grantId }),
          ...(scope !== undefined && { scope: scope.slice(0, MAX_TEXT) }),
        },
      };
      waiting.push({ id: newId(), record });
      arm();
    },

    counted(event, clientId) {
      const by = { actorKind: 'client', actorId: clientId, clientId } as const;
      count(HOUR_MS, `${event} ${clientId}`, { event, outcome: 'success', ...by, details: { per: 'hour' } });
    },

    refused({ clientId, endpoint, grantType, error, detail }) {
      const by =
        clientId === undefined
          ? ({ actorKind: 'anonymous' } as const)
          : ({ actorKind: 'client', actorId: clientId, clientId } as const);
      const details = {
        per: 'minute',
        endpoint,
        ...(grantType !== undefined && { grant_type: grantType }),
        ...(detail !== undefined && { detail: detail.slice(0, MAX_TEXT) }),
      };
      const key = JSON.stringify([clientId, error, details]);
      const refused = { event: 'token.refused', outcome: 'failure' } as const;
      if (isCountedApart(key)) count(MINUTE_MS, key, { ...refused, reason: error, ...by, details });
      else
        count(MINUTE_MS, 'other', {
          ...refused,
          reason: 'other',
          actorKind: 'anonymous',
          details: { per: 'minute' },
        });
    },

    flush,
    close,

    find: (id) => collection.find(id),
    query: (query) => collection.query(query),
    forget: (before, limit) => forgetEvents(collection, before, limit),
  };
}
