// Writes recorded events to the log, finds them, and removes old ones.
// If an event cannot be written, the whole event goes to the program's log, and the request that
// caused it gets 503, so that nothing happens unrecorded. An action that grants something (a sign-in, a consent) is
// recorded before it is granted. An action that takes something away (a logout, a revocation, an administrator's
// change) happens first and stays: `note` never interrupts it, and the request only waits for the write before its
// response.
import type { Clock } from '../clock.ts';
import type { Actor, Events, Origin, RecordedEvent } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { AuditRecord } from '../store/collections.ts';
import { type Collection, type Page, type Query, type Stored, StoreUnavailable } from '../store/port.ts';
import { withoutSecrets } from './details.ts';
import { forgetEvents } from './forget-events.ts';

export interface Audit {
  find(id: string): Promise<Stored<AuditRecord> | undefined>;
  query(query: Query): Promise<Page<AuditRecord>>;
  /** Removes at most `limit` events from before that time (epoch ms), the oldest first. @returns how many */
  forget(before: number, limit: number): Promise<number>;
}

interface Deps {
  readonly collection: Collection<AuditRecord>;
  readonly clock: Clock;
  /** Its ids sort by time, the order of the log. */
  readonly newId: () => string;
  /** The source of all recorded events. */
  readonly events: Pick<Events, 'origins' | 'recordWith'>;
  readonly log: Pick<Logger, 'error'>;
}

const MAX_ID = 256;
const MAX_USER_AGENT = 256;
const MAX_REASON = 64;

const cut = (text: string | undefined, length: number): string | undefined =>
  text === undefined || text === '' ? undefined : text.slice(0, length);

const isFailure = ({ event, outcome }: RecordedEvent): boolean =>
  outcome === undefined ? event.endsWith('.failure') : outcome === 'failure';

/** Drops undefined members, which JSON cannot represent. */
const compact = (record: { [Key in keyof AuditRecord]: AuditRecord[Key] | undefined }): AuditRecord =>
  // Members that AuditRecord requires are never undefined below.
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as unknown as AuditRecord;

function toRecord(event: RecordedEvent, actor: Actor, origin: Origin | undefined, at: number): AuditRecord {
  return compact({
    at,
    event: event.event,
    outcome: isFailure(event) ? 'failure' : 'success',
    reason: cut(event.reason, MAX_REASON),
    actorKind: actor.kind,
    actorId: cut(actor.id, MAX_ID),
    targetKind: event.target?.kind,
    targetId: cut(event.target?.id, MAX_ID),
    clientId: cut(event.clientId ?? origin?.clientId, MAX_ID),
    ipAddress: cut(origin?.ipAddress, MAX_ID),
    userAgent: cut(origin?.userAgent, MAX_USER_AGENT),
    requestId: cut(origin?.requestId, MAX_ID),
    sessionId: cut(event.sessionId ?? origin?.sessionId, MAX_ID),
    details: event.details && withoutSecrets(event.details),
  });
}

export function createAudit({ collection, clock, newId, events, log }: Deps): Audit {
  const { origins } = events;
  const actorOf = (event: RecordedEvent): Actor =>
    event.actor ?? origins.actor() ?? { kind: origins.current() === undefined ? 'system' : 'anonymous' };

  async function write(event: RecordedEvent): Promise<void> {
    const record = toRecord(event, actorOf(event), origins.current(), clock());
    try {
      await collection.insert(newId(), record);
    } catch (error) {
      log.error({ audit: record, err: error }, 'audit event not written');
      if (error instanceof StoreUnavailable) throw error;
      throw new StoreUnavailable('the audit log cannot be written', { cause: error });
    }
  }

  events.recordWith(write);
  return {
    find: (id) => collection.find(id),
    query: (query) => collection.query(query),
    forget: (before, limit) => forgetEvents(collection, before, limit),
  };
}
