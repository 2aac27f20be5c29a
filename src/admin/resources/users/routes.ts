// The routes of users (specification §4.1, decisions §6).
import { Boolean as BooleanSchema, Enum, String as StringSchema, type TObject } from 'typebox';
import {
  type Account,
  type Accounts,
  fold,
  groupNamePattern,
  memberFilter,
  parseEmail,
  toUser,
} from '../../../accounts/index.ts';
import type { Clock } from '../../../clock.ts';
import { accounts as collection } from '../../../store/collections.ts';
import type { Cursors } from '../../api/cursor.ts';
import { EXPECTED } from '../../api/expected.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route, type Sensitivity, sensitiveMembers } from '../../api/route.ts';
import { atVersion, idParams, userIdBody } from '../../api/shared.ts';
import { newUserSchema, toAccountChanges, userChangesSchema, userSchema } from './schema.ts';

export type AccountsPort = Pick<
  Accounts,
  | 'find'
  | 'query'
  | 'create'
  | 'changeAccountAsAdmin'
  | 'unlock'
  | 'endSessionsAsAdmin'
  | 'removeAccountAsAdmin'
>;

/** @throws AppError request.invalid for a user without an address to send a link to */
export type SendLink = (account: Account) => Promise<void>;

interface Deps {
  readonly accounts: AccountsPort;
  readonly sendPasswordReset: SendLink;
  readonly sendEmailVerification: SendLink;
  readonly sendEnrolmentLink: SendLink;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<Account> = {
  name: 'users',
  collection,
  sorts: ['created_at', 'updated_at', 'last_login_at', 'username', 'email', 'role', 'id'],
  defaultOrder: 'desc',
  searches: ['username', 'email'],
  toSearchText: fold,
  filters: {
    role: { schema: Enum(['user', 'auditor', 'admin']) },
    group: {
      schema: StringSchema({ pattern: groupNamePattern, [EXPECTED]: 'the name of a group' }),
      toGroups: (name) => [[memberFilter(String(name))]],
    },
    // Exact match, ignoring case, for callers that know the name. `search` finds parts.
    username: {
      schema: StringSchema({ minLength: 1, maxLength: 512 }),
      toGroups: (name) => [[{ field: 'username', op: 'eq', value: fold(String(name)) }]],
    },
    email: {
      schema: StringSchema({ minLength: 1, maxLength: 512 }),
      toGroups: (text) => [[{ field: 'email', op: 'eq', value: parseEmail(String(text))?.key ?? '' }]],
    },
    is_active: { schema: BooleanSchema() },
    is_email_verified: { schema: BooleanSchema() },
    totp_verified: { schema: BooleanSchema() },
    is_locked: {
      schema: BooleanSchema(),
      toGroups: (isLocked, now) => {
        const field = 'locked_until';
        if (isLocked === true) return [[{ field, op: 'gte', value: now + 1 }]];
        return [[{ field, op: 'absent' }], [{ field, op: 'lte', value: now }]];
      },
    },
  },
  times: ['created_at', 'updated_at', 'last_login_at'],
};

const querySchema: TObject = listQuerySchema(list);
const tag = 'Users';
const ok = { status: 200, schema: userSchema, hasVersion: true } as const;

/** Whether the new account has a role or groups, which give access beyond signing in. */
const opensMore: Exclude<Sensitivity, string>['is'] = ({ body }) => {
  if (typeof body !== 'object' || body === null) return false;
  const { role = 'user', groups = [] }: { role?: unknown; groups?: unknown } = body;
  return role !== 'user' || !Array.isArray(groups) || groups.length > 0;
};

export function userRoutes(deps: Deps): Route[] {
  const { accounts, cursors, clock } = deps;
  const show = (account: Account) => ({ data: toUser(account, clock()), version: account.version });
  const get = async (id: string, ifVersion?: number): Promise<Account> =>
    atVersion(await accounts.find(id), 'account.not_found', ifVersion);

  const action = (
    name: string,
    sensitivity: 'plain' | 'sensitive',
    summary: string,
    act: (account: Account) => Promise<unknown>,
  ): Route =>
    defineRoute({
      method: 'POST',
      path: `/users/{id}/${name}`,
      sensitivity,
      tag,
      summary,
      params: idParams,
      success: ok,
      handle: async ({ params, ifVersion }) => {
        await act(await get(params.id, ifVersion));
        return show(await get(params.id));
      },
    });

  const change = (method: 'PUT' | 'PATCH'): Route =>
    defineRoute({
      method,
      path: '/users/{id}',
      sensitivity: sensitiveMembers(
        'role',
        'password',
        'email',
        'is_email_verified',
        'totp_verified',
        'is_active',
        'groups',
      ),
      tag,
      summary: 'Change a user: only the given fields change, null clears one',
      params: idParams,
      body: userChangesSchema,
      success: ok,
      handle: async ({ params, body, ifVersion }) =>
        show(await accounts.changeAccountAsAdmin(params.id, toAccountChanges(body), { version: ifVersion })),
    });

  return [
    defineRoute({
      method: 'POST',
      path: '/users',
      sensitivity: { when: 'with a role or groups', is: opensMore },
      tag,
      summary: 'Create a user',
      body: newUserSchema,
      success: { ...ok, status: 201 },
      handle: async ({ body }) => {
        const { username } = body;
        const account = await accounts.create({ ...toAccountChanges(body), username });
        return { ...show(account), id: account.id };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/users',
      sensitivity: 'plain',
      tag,
      summary: 'List users',
      query: querySchema,
      success: { status: 200, schema: pageSchema(userSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => accounts.query(wanted),
          recordOf: (account) => account,
          idOf: ({ id }) => id,
        });
        const now = clock();
        return { data: { ...page, items: page.items.map((account) => toUser(account, now)) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/users/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read a user',
      params: idParams,
      success: ok,
      handle: async ({ params }) => show(await get(params.id)),
    }),
    change('PUT'),
    change('PATCH'),
    defineRoute({
      method: 'DELETE',
      path: '/users/{id}',
      sensitivity: 'sensitive',
      tag,
      summary: 'Delete a user with sessions, tokens and everything else that belongs to it',
      params: idParams,
      success: { status: 204 },
      handle: async ({ params, ifVersion }): Promise<Answer<never> | undefined> => {
        // removeAccountAsAdmin() also completes a deletion that a crash interrupted, which get() would no longer find.
        if (ifVersion !== undefined) await get(params.id, ifVersion);
        await accounts.removeAccountAsAdmin(params.id);
        return undefined;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/users/unlock',
      hasTarget: true,
      sensitivity: 'plain',
      tag,
      summary: 'Unlock a user',
      body: userIdBody,
      success: ok,
      handle: async ({ body, ifVersion }) => {
        if (ifVersion !== undefined) await get(body.user_id, ifVersion);
        return show(await accounts.unlock(body.user_id));
      },
    }),
    action('unlock', 'plain', 'Unlock a user', ({ id }) => accounts.unlock(id)),
    action('deactivate', 'sensitive', 'Deactivate a user and end their sessions', ({ id }) =>
      accounts.changeAccountAsAdmin(id, { isActive: false }),
    ),
    action('reactivate', 'sensitive', 'Let a deactivated user in again', ({ id }) =>
      accounts.changeAccountAsAdmin(id, { isActive: true }),
    ),
    action('revoke-sessions', 'plain', 'Sign a user out everywhere', ({ id }) =>
      accounts.endSessionsAsAdmin(id),
    ),
    action('reset-mfa', 'sensitive', 'Have the second factor enrolled again', ({ id }) =>
      accounts.changeAccountAsAdmin(id, { totpVerified: false }),
    ),
    action('send-password-reset', 'plain', 'Mail a user a link to a new password', deps.sendPasswordReset),
    action(
      'send-enrolment-link',
      'sensitive',
      'Mail a new user a one-time link to set up the account',
      deps.sendEnrolmentLink,
    ),
    action(
      'send-email-verification',
      'plain',
      'Mail a user a link that verifies the address',
      deps.sendEmailVerification,
    ),
  ];
}
