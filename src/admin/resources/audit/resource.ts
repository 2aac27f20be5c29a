// The audit log: events for administrators to search. src/audit and api/audit-trail.ts define what is recorded.
import { Record as RecordSchema, type Static, Unknown } from 'typebox';
import type { EventClass } from '../../../model/events/event-row.ts';
import { classOfEvent } from '../../../model/events/events.ts';
import { type AuditRecord, audit as collection } from '../../../store/collections.ts';
import type { FieldValue, Stored } from '../../../store/port.ts';
import { searchWords } from '../../../store/search-text.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { object, oneOf, orNull, string, stringOrNull, timestamp } from '../../api/schema-parts.ts';

const id = (description: string) => string({ minLength: 1, maxLength: 256, description });

/** Not a field of a record: it selects one of the two collections. */
const CLASS = 'class';
const classFilter = (value: FieldValue) => [{ field: CLASS, op: 'eq', value } as const];

const list: ListDefinition<AuditRecord> = {
  name: 'audit',
  collection,
  sorts: ['at', 'event', 'id'],
  defaultOrder: 'desc',
  searches: ['event', 'reason', 'ip_address', 'actor_id', 'target_id', 'client_id', 'request_id', 'details'],
  searchedBy: { field: 'text', wordsOf: searchWords },
  filters: {
    class: {
      schema: oneOf(
        ['general', 'tokens', 'all'],
        '`tokens`: issued, refreshed and refused tokens, which are many and retained for a shorter time; `general`: all other events. Default: `general`, or the class of the requested event.',
      ),
      toGroups: (value) =>
        value === 'all' ? [classFilter('general'), classFilter('tokens')] : [classFilter(value)],
    },
    event: {
      schema: string({ minLength: 1, maxLength: 64, description: 'Only events of this name.' }),
    },
    outcome: { schema: oneOf(['success', 'failure'], 'Only events with this outcome.') },
    actor_id: { schema: id('Only events that this user, application or API key caused.') },
    target_id: { schema: id('Only events that concern this user or item.') },
    client_id: { schema: id('Only events that concern this application.') },
    ip_address: {
      schema: string({ minLength: 1, maxLength: 64, description: 'Only events from this IP address.' }),
    },
  },
  times: ['at'],
};

const eventSchema = object(
  {
    id: string('The ID of the event; IDs sort by time.'),
    at: timestamp('When it happened.'),
    event: string('The name of the event, such as `signin.failure`.'),
    class: oneOf(
      ['general', 'tokens'],
      '`tokens`: about issued, refreshed and refused tokens; `general`: all other events.',
    ),
    outcome: oneOf(['success', 'failure'], 'Whether it was done or refused.'),
    reason: stringOrNull(
      'Why it was refused, in more detail than the response to the caller; null: not refused.',
    ),
    actor_kind: oneOf(
      ['user', 'client', 'bootstrap', 'api_key', 'system', 'anonymous'],
      'Who caused the event. `client`: an application; `bootstrap`: the holder of ADMIN_TOKEN; `system`: this server; `anonymous`: not known.',
    ),
    actor_id: stringOrNull('The ID of who caused the event.'),
    target_kind: stringOrNull('The kind of item that the event concerns, such as `user` or `client`.'),
    target_id: stringOrNull('The ID of the user or item that the event concerns.'),
    client_id: stringOrNull('The application that took part.'),
    ip_address: stringOrNull('The IP address of the request.'),
    user_agent: stringOrNull('The `User-Agent` of the request.'),
    request_id: stringOrNull('The same as in the response and in the program log.'),
    session_id: stringOrNull(
      'In which session it happened; null: in none, or recorded by an earlier version.',
    ),
    details: orNull(
      RecordSchema(string(), Unknown()),
      'For example the values before and after; never secrets.',
    ),
  },
  'An event of the audit log.',
);
export type AuditEvent = Static<typeof eventSchema>;

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
  session_id: value.sessionId ?? null,
  details: value.details ?? null,
});

/** A filter by event implies the class. */
const classAsked = ({ event }: { readonly event?: unknown }): EventClass =>
  typeof event === 'string' ? classOfEvent(event) : 'general';

/** Buffered events are written first, so that administrators see what they just did. */
async function logOf(wanted: EventClass, { audit, tokenLog }: AdminPorts) {
  if (wanted === 'general') return audit;
  await tokenLog.flush();
  return tokenLog;
}

export const auditLog = defineResource(
  {
    path: '/audit',
    tag: 'Audit log',
    view: eventSchema,
    present: (events: readonly Stored<AuditRecord>[]) => events.map(show),
  },
  (on) => ({
    list: on.list({
      summary: 'List events, the latest first',
      list,
      csv: [
        'at',
        'event',
        'outcome',
        'reason',
        'actor_kind',
        'actor_id',
        'target_kind',
        'target_id',
        'client_id',
        'ip_address',
        'user_agent',
        'request_id',
        'session_id',
        'id',
        'details',
      ],
      async query(wanted, ports, { query }) {
        const given = wanted.filters?.find(({ field }) => field === CLASS)?.value;
        const isTokens = (given ?? classAsked(query)) === 'tokens';
        const log = await logOf(isTokens ? 'tokens' : 'general', ports);
        return log.query({ ...wanted, filters: wanted.filters?.filter(({ field }) => field !== CLASS) });
      },
      recordOf: ({ value }) => value,
    }),
    read: on.read({
      summary: 'Read an event',
      find: async (id, { audit, tokenLog }) => (await audit.find(id)) ?? (await tokenLog.find(id)),
      missing: 'request.not_found',
    }),
  }),
);
