// Owns the routes of SSO sessions (decisions §6): who is signed in from where, and the end of it.
import { Boolean as BooleanSchema, String as StringSchema } from 'typebox';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { sessions as collection, type SessionRecord } from '../../../store/collections.ts';
import type { FieldFilter, Stored } from '../../../store/port.ts';
import type { Cursors } from '../../api/cursor.ts';
import { type ListPage, pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import type { SessionsPort } from '../../api/ports.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { atVersion, idParams, userSessionParams } from '../../api/shared.ts';
import type { ClientsPort } from '../clients/routes.ts';
import type { AccountsPort } from '../users/routes.ts';
import { createPresenter, sessionSchema } from './view.ts';

interface Deps {
  readonly sessions: SessionsPort;
  readonly accounts: Pick<AccountsPort, 'find'>;
  readonly clients: Pick<ClientsPort, 'find'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const definition: ListDefinition<SessionRecord> = {
  name: 'sessions',
  collection,
  sorts: ['last_activity_at', 'created_at', 'expires_at', 'ended_at', 'ip_address', 'user_id', 'id'],
  defaultOrder: 'desc',
  searches: ['ip_address'],
  filters: {
    user_id: { schema: StringSchema({ minLength: 1, maxLength: 128 }) },
    ip_address: { schema: StringSchema({ minLength: 1, maxLength: 64 }) },
    is_active: {
      schema: BooleanSchema(),
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

const tag = 'Sessions';

export function sessionRoutes(deps: Deps): Route[] {
  const { sessions, accounts, cursors, clock } = deps;
  const presenter = () => createPresenter(deps);
  async function read(list: ListDefinition<SessionRecord>, query: object, accountId?: string) {
    const asked = readListQuery(list, query, clock());
    const only: readonly FieldFilter[] =
      accountId === undefined ? [] : [{ field: 'user_id', op: 'eq', value: accountId }];
    const request = {
      ...asked,
      groups: asked.groups.map((group) => [...group, ...only]),
      scope: [asked.scope, accountId ?? null],
    };
    const page: ListPage<Stored<SessionRecord>> = await readPage({
      list,
      request,
      cursors,
      query: (wanted) => sessions.query(wanted),
      recordOf: ({ value }) => value,
      idOf: ({ id }) => id,
    });
    return { data: { ...page, items: await Promise.all(page.items.map(presenter())) } };
  }

  async function end(
    id: string,
    isRight: (record: SessionRecord) => boolean,
    ifVersion: number | undefined,
  ): Promise<Answer<never> | undefined> {
    const session = await sessions.find(id);
    // One that is over already can be ended again: what a crash may have left of it goes then.
    if (session === undefined || !isRight(session.value)) throw new AppError('session.not_found');
    atVersion(session, 'session.not_found', ifVersion);
    await sessions.end(id);
    return undefined;
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/sessions',
      sensitivity: 'plain',
      tag,
      summary: 'List sessions',
      query: listQuerySchema(definition),
      success: { status: 200, schema: pageSchema(sessionSchema) },
      handle: ({ query }) => read(definition, query),
    }),
    defineRoute({
      method: 'GET',
      path: '/sessions/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read a session',
      params: idParams,
      success: { status: 200, schema: sessionSchema, hasVersion: true },
      handle: async ({ params }) => {
        const session = atVersion(await sessions.find(params.id), 'session.not_found');
        return { data: await presenter()(session), version: session.version };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/sessions/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'End a session with its grants and tokens',
      params: idParams,
      success: { status: 204 },
      handle: ({ params, ifVersion }) => end(params.id, () => true, ifVersion),
    }),
    defineRoute({
      method: 'GET',
      path: '/users/{id}/sessions',
      sensitivity: 'plain',
      tag,
      summary: 'List the sessions of a user',
      params: idParams,
      query: listQuerySchema(ofOneUser),
      success: { status: 200, schema: pageSchema(sessionSchema) },
      handle: async ({ params, query }) => {
        if ((await accounts.find(params.id)) === undefined) throw new AppError('account.not_found');
        return read(ofOneUser, query, params.id);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/users/{id}/sessions/{session_id}',
      sensitivity: 'plain',
      tag,
      summary: 'End a session of a user',
      params: userSessionParams,
      success: { status: 204 },
      handle: ({ params, ifVersion }) =>
        end(params.session_id, ({ accountId }) => accountId === params.id, ifVersion),
    }),
  ];
}
