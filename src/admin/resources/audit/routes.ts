// Owns the routes of the audit log (decisions §6): what happened, for administrators to search. It is only ever read
// here; what is written is src/audit and api/audit-trail.ts.
import {
  Enum,
  Object as ObjectSchema,
  Record as RecordSchema,
  String as StringSchema,
  Unknown,
} from 'typebox';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { classOfEvent, type EventClass } from '../../../events/index.ts';
import { type AuditRecord, audit as collection } from '../../../store/collections.ts';
import type { FieldValue, Query, Stored } from '../../../store/port.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import type { Listing } from '../../api/ports.ts';
import { defineRoute, type Route } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

export interface AuditLogPort {
  find(id: string): Promise<Stored<AuditRecord> | undefined>;
  query(query: Query): Promise<Listing<Stored<AuditRecord>>>;
}

export interface TokenEventsPort extends AuditLogPort {
  flush(): Promise<void>;
}

interface Deps {
  readonly audit: AuditLogPort;
  /** The class `tokens`, which is kept apart (src/audit/token-log.ts). */
  readonly tokenEvents: TokenEventsPort;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const id = () => StringSchema({ minLength: 1, maxLength: 256 });

/** No field of a record: it says which of the two collections is meant. */
const CLASS = 'class';
const classFilter = (value: FieldValue) => [{ field: CLASS, op: 'eq', value } as const];

const list: ListDefinition<AuditRecord> = {
  name: 'audit',
  collection,
  sorts: ['at', 'event', 'id'],
  defaultOrder: 'desc',
  filters: {
    class: {
      schema: Enum(['general', 'tokens', 'all'], {
        description:
          'tokens: what was issued, refreshed and refused, which is much and kept for a shorter time. Default: general, or the class of the event that is asked for.',
      }),
      toGroups: (value) =>
        value === 'all' ? [classFilter('general'), classFilter('tokens')] : [classFilter(value)],
    },
    event: { schema: StringSchema({ minLength: 1, maxLength: 64 }) },
    outcome: { schema: Enum(['success', 'failure']) },
    actor_id: { schema: id() },
    target_id: { schema: id() },
    client_id: { schema: id() },
    ip_address: { schema: StringSchema({ minLength: 1, maxLength: 64 }) },
  },
  times: ['at'],
};

const eventSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'Sorts by time.' }),
    at: timestamp(),
    event: StringSchema({ description: 'What happened, such as signin.failure.' }),
    class: Enum(['general', 'tokens']),
    outcome: Enum(['success', 'failure']),
    reason: nullable(StringSchema({ description: 'Why; the caller was not told.' })),
    actor_kind: Enum(['user', 'client', 'bootstrap', 'api_key', 'system', 'anonymous']),
    actor_id: nullable(StringSchema({ description: 'Who did it.' })),
    target_kind: nullable(StringSchema()),
    target_id: nullable(StringSchema({ description: 'To whom or what.' })),
    client_id: nullable(StringSchema()),
    ip_address: nullable(StringSchema()),
    user_agent: nullable(StringSchema()),
    request_id: nullable(StringSchema({ description: 'The same as in the answer and in the program log.' })),
    details: nullable(
      RecordSchema(StringSchema(), Unknown(), { description: 'Such as before and after; no secrets.' }),
    ),
  },
  strict,
);

const show = ({ id, value }: Stored<AuditRecord>) => ({
  id,
  at: new Date(value.at).toISOString(),
  event: value.event,
  class: classOfEvent(value.event),
  outcome: value.outcome,
  reason: value.reason ?? null,
  actor_kind: value.actorKind,
  actor_id: value.actorId ?? null,
  target_kind: value.targetKind ?? null,
  target_id: value.targetId ?? null,
  client_id: value.clientId ?? null,
  ip_address: value.ipAddress ?? null,
  user_agent: value.userAgent ?? null,
  request_id: value.requestId ?? null,
  details: value.details ?? null,
});

/** Whoever asks for an event need not know its class. */
const classAsked = ({ event }: { readonly event?: unknown }): EventClass =>
  typeof event === 'string' ? classOfEvent(event) : 'general';

const tag = 'Audit log';

export function auditRoutes({ audit, tokenEvents, cursors, clock }: Deps): Route[] {
  /** What this process has in memory is written first: whoever asks sees what they just did. */
  async function logOf(wanted: EventClass): Promise<AuditLogPort> {
    if (wanted === 'general') return audit;
    await tokenEvents.flush();
    return tokenEvents;
  }

  async function read(wanted: Query): Promise<Listing<Stored<AuditRecord>>> {
    const isTokens =
      wanted.filters?.some(({ field, value }) => field === CLASS && value === 'tokens') === true;
    const log = await logOf(isTokens ? 'tokens' : 'general');
    return log.query({ ...wanted, filters: wanted.filters?.filter(({ field }) => field !== CLASS) });
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/audit',
      sensitivity: 'plain',
      tag,
      summary: 'List events, the latest first',
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(eventSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, { class: classAsked(query), ...query }, clock()),
          cursors,
          query: read,
          recordOf: ({ value }) => value,
          idOf: ({ id }) => id,
        });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/audit/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read an event',
      params: idParams,
      success: { status: 200, schema: eventSchema },
      handle: async ({ params }) => {
        const event = (await audit.find(params.id)) ?? (await tokenEvents.find(params.id));
        if (event === undefined) throw new AppError('request.not_found');
        return { data: show(event) };
      },
    }),
  ];
}
