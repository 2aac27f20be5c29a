// The token events of the audit log: a class of its own with its own retention, because tokens are many. Nothing is
// written while a token is issued. First issues wait in memory and are written one by one, refreshes and client-credentials
// issues are counted per client and hour, refusals per client, reason and minute, because strangers can cause them.
// `kill -9` loses what the last FLUSH_MS brought. Revocation and reuse are rare and end something: they go to the audit
// log itself, at once (audit.ts). No addresses, no names: ids alone.
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { EventName } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { AuditRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Page, type Query, type Stored } from '../store/port.ts';
import { update } from '../store/update.ts';
import { forgetEvents } from './forget-events.ts';

export interface IssuedTokens {
  readonly clientId: string;
  readonly accountId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly grantType: string;
  readonly scope?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface RefusedRequest {
  /** None: the client is not known. */
  readonly clientId?: string | undefined;
  /** Such as token, userinfo, introspection, admin_api. */
  readonly endpoint: string;
  readonly grantType?: string | undefined;
  /** The OAuth error code. */
  readonly error: string;
  /** What the caller was not told, from a fixed vocabulary. */
  readonly detail?: string | undefined;
}

export interface TokenLog {
  issued(tokens: IssuedTokens): void;
  /** One more refresh, or client-credentials token, of this client. */
  counted(event: 'token.refreshed' | 'token.machine_issued', clientId: string): void;
  refused(request: RefusedRequest): void;
  /** Writes what waits. Never throws: what cannot be written waits for the next time. */
  flush(): Promise<void>;
  /** Writes what waits and stops the timer. */
  close(): Promise<void>;
  find(id: string): Promise<Stored<AuditRecord> | undefined>;
  query(query: Query): Promise<Page<AuditRecord>>;
  /** Removes at most `limit` events from before that time (epoch ms), the oldest first. @returns how many */
  forget(before: number, limit: number): Promise<number>;
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
/** More than this waits only while the store is away; then the newest are dropped, and the program log says how many. */
const MAX_WAITING = 10_000;
/** Kinds of refusal (client, reason, endpoint) counted apart in a minute by one process; further ones are counted together. */
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
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  function arm(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      void flush();
    }, flushMs);
    // A process that has nothing else to do may end; whoever stops it calls close().
    timer.unref();
  }

  function count(periodMs: number, key: string, record: Omit<AuditRecord, 'at'>): void {
    const at = Math.floor(clock() / periodMs) * periodMs;
    const id = counterId(at, key);
    const known = counters.get(id);
    if (known === undefined) counters.set(id, { record: { ...record, at }, count: 1 });
    else known.count += 1;
    arm();
  }

  /** Whether one more kind of refusal may have a counter of its own in this minute. */
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
      // Another process began this counter between our look and our write.
      if (!(error instanceof AlreadyExists)) throw error;
      await raise();
    }
  }

  async function insert(id: string, record: AuditRecord): Promise<void> {
    try {
      await collection.insert(id, record);
    } catch (error) {
      // An earlier attempt did write it, though the answer got lost.
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  /** @returns the first failure; what was not written waits again */
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
    // Written together, they share a commit; not all at once, so that requests get their turn.
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

  async function flush(): Promise<void> {
    // Whoever comes while it is being written has their event in the next round.
    while (writing !== undefined) await writing;
    if (waiting.length === 0 && counters.size === 0) return;
    writing = write().then((failure) => {
      writing = undefined;
      if (failure === undefined) return;
      log.warn({ err: failure, waiting: waiting.length, dropped }, 'token events not written yet');
      dropped = 0;
      arm();
    });
    await writing;
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

    async close() {
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },

    find: (id) => collection.find(id),
    query: (query) => collection.query(query),
    forget: (before, limit) => forgetEvents(collection, before, limit),
  };
}
