// SSO sessions: who is signed in from where.
import { AppError } from '../../../errors.ts';
import { sessions as collection, type SessionRecord } from '../../../store/collections.ts';
import type { FieldFilter, Stored } from '../../../store/port.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { boolean, string } from '../../api/schema-parts.ts';
import { atVersion, idParams, userOf, userParams, userSessionParams } from '../../api/shared.ts';
import { createPresenter, sessionSchema } from './view.ts';

const definition: ListDefinition<SessionRecord> = {
  name: 'sessions',
  collection,
  sorts: ['last_activity_at', 'created_at', 'expires_at', 'ended_at', 'ip_address', 'user_id', 'id'],
  defaultOrder: 'desc',
  searches: ['ip_address'],
  filters: {
    user_id: {
      schema: string({ minLength: 1, maxLength: 128, description: 'Only sessions of this user.' }),
    },
    ip_address: {
      schema: string({
        minLength: 1,
        maxLength: 64,
        description: 'Only sessions last used from this IP address.',
      }),
    },
    is_active: {
      schema: boolean('Only sessions that are active, or that are not.'),
      toGroups: (isActive, now) => {
        const isRunning: FieldFilter = { field: 'ended_at', op: 'absent' };
        if (isActive === true) return [[isRunning, { field: 'expires_at', op: 'gte', value: now + 1 }]];
        return [
          [{ field: 'ended_at', op: 'present' }],
          [isRunning, { field: 'expires_at', op: 'lte', value: now }],
        ];
      },
    },
  },
  times: ['created_at', 'last_activity_at', 'expires_at', 'ended_at'],
};

const { user_id: _, ...filtersOfOne } = definition.filters ?? {};
const ofOneUser: ListDefinition<SessionRecord> = {
  ...definition,
  name: 'user-sessions',
  filters: filtersOfOne,
};

type Session = Stored<SessionRecord>;

const frame = {
  tag: 'Sessions',
  target: 'session',
  view: sessionSchema,
  present: (sessions: readonly Session[], ports: AdminPorts) =>
    Promise.all(sessions.map(createPresenter(ports))),
} as const;

async function end(
  { sessions }: AdminPorts,
  id: string,
  ifVersion: number | undefined,
  isWanted: (record: SessionRecord) => boolean = () => true,
): Promise<void> {
  const session = await sessions.find(id);
  // Ending an ended session is allowed: it removes whatever a crash left behind.
  if (session === undefined || !isWanted(session.value)) throw new AppError('session.not_found');
  atVersion(session, 'session.not_found', ifVersion);
  await sessions.end(id);
}

export const sessions = defineResource(
  { ...frame, path: '/sessions', versionOf: ({ version }: Session) => version },
  (on) => ({
    list: on.list({
      summary: 'List sessions',
      list: definition,
      query: (wanted, ports) => ports.sessions.query(wanted),
      recordOf: ({ value }) => value,
    }),
    read: on.read({
      summary: 'Read a session',
      find: (id, ports) => ports.sessions.find(id),
      missing: 'session.not_found',
    }),
    remove: on.remove({
      summary: 'End a session with its grants and tokens',
      event: 'session.revoked',
      params: idParams,
      run: ({ params, ifVersion }, ports) => end(ports, params.id, ifVersion),
    }),
  }),
);

export const userSessions = defineResource({ ...frame, path: '/users/{id}/sessions' }, (on) => ({
  list: on.list({
    summary: 'List the sessions of a user',
    params: userParams,
    before: ({ params }, ports) => userOf(params.id, ports),
    list: ofOneUser,
    query(wanted, ports, { params }) {
      const own: FieldFilter = { field: 'user_id', op: 'eq', value: params.id };
      return ports.sessions.query({ ...wanted, filters: [...(wanted.filters ?? []), own] });
    },
    recordOf: ({ value }) => value,
  }),
  remove: on.remove({
    path: '/users/{id}/sessions/{session_id}',
    summary: 'End a session of a user',
    event: 'session.revoked',
    params: userSessionParams,
    run: ({ params, ifVersion }, ports) =>
      end(ports, params.session_id, ifVersion, ({ accountId }) => accountId === params.id),
  }),
}));
