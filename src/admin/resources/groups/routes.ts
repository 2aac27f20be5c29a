// Owns the routes of groups and their members (decisions §6).
import { Object as ObjectSchema, Optional, String as StringSchema } from 'typebox';
import type { Account } from '../../../accounts/account.ts';
import type { Accounts } from '../../../accounts/accounts.ts';
import { fold } from '../../../accounts/fold.ts';
import { type Group, type Groups, memberFilter } from '../../../accounts/groups.ts';
import { toUser } from '../../../accounts/to-user.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { groups as collection, type GroupRecord } from '../../../store/administration.ts';
import { accounts } from '../../../store/collections.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { idParams, userIdBody } from '../../api/shared.ts';
import { userSchema } from '../users/schema.ts';

export type GroupsPort = Omit<Groups, 'finishRemovals' | 'missing'>;

interface Deps {
  readonly groups: GroupsPort;
  readonly accounts: Pick<Accounts, 'query'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<GroupRecord> = {
  name: 'groups',
  collection,
  sorts: ['name', 'display_name', 'created_at', 'updated_at', 'id'],
  defaultOrder: 'asc',
  searches: ['name', 'display_name'],
  times: ['created_at', 'updated_at'],
};

const members: ListDefinition<Account> = {
  name: 'group-members',
  collection: accounts,
  sorts: ['username', 'email', 'created_at', 'last_login_at', 'id'],
  defaultOrder: 'asc',
  searches: ['username', 'email'],
  toSearchText: fold,
  times: ['created_at', 'last_login_at'],
};

const groupSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'The same as the name.', examples: ['staff'] }),
    name: StringSchema({ description: 'What the claim groups says; it never changes.', examples: ['staff'] }),
    display_name: nullable(StringSchema()),
    description: nullable(StringSchema()),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  strict,
);
const fields = {
  display_name: Optional(nullable(StringSchema({ maxLength: 200 }))),
  description: Optional(nullable(StringSchema({ maxLength: 2000 }))),
};
const nameRule = 'a-z, 0-9, dot, hyphen, underscore.';
const newGroupSchema = ObjectSchema(
  { name: StringSchema({ maxLength: 64, description: nameRule, examples: ['staff'] }), ...fields },
  strict,
);
const groupChangesSchema = ObjectSchema(fields, strict);
const { id } = idParams.properties;
const memberParams = ObjectSchema({ id, user_id: id }, strict);

const show = ({ id: name, value, version }: Group) => ({
  data: {
    id: name,
    name,
    display_name: value.displayName ?? null,
    description: value.description ?? null,
    created_at: new Date(value.createdAt).toISOString(),
    updated_at: new Date(value.updatedAt).toISOString(),
  },
  version,
});

const tag = 'Groups';

export function groupRoutes({ groups, accounts: users, cursors, clock }: Deps): Route[] {
  const get = async (name: string): Promise<Group> => {
    const group = await groups.find(name);
    if (group === undefined) throw new AppError('group.not_found');
    return group;
  };
  const change = (method: 'PUT' | 'PATCH'): Route =>
    defineRoute({
      method,
      path: '/groups/{id}',
      sensitivity: 'sensitive',
      tag,
      summary: 'Change how a group is described: only the given fields change, null clears one',
      params: idParams,
      body: groupChangesSchema,
      success: { status: 200, schema: groupSchema, hasVersion: true },
      handle: async ({ params, body, ifVersion }) =>
        show(
          await groups.update(
            params.id,
            { displayName: body.display_name, description: body.description },
            { ifVersion },
          ),
        ),
    });

  return [
    defineRoute({
      method: 'POST',
      path: '/groups',
      sensitivity: 'plain',
      tag,
      summary: 'Create a group',
      body: newGroupSchema,
      success: { status: 201, schema: groupSchema, hasVersion: true },
      handle: async ({ body }) => {
        const group = await groups.create(body.name, {
          displayName: body.display_name,
          description: body.description,
        });
        return { ...show(group), id: group.id };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/groups',
      sensitivity: 'plain',
      tag,
      summary: 'List groups',
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(groupSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => groups.query(wanted),
          recordOf: (group) => group.value,
          idOf: (group) => group.id,
        });
        return { data: { ...page, items: page.items.map((group) => show(group).data) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/groups/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read a group',
      params: idParams,
      success: { status: 200, schema: groupSchema, hasVersion: true },
      handle: async ({ params }) => show(await get(params.id)),
    }),
    change('PUT'),
    change('PATCH'),
    defineRoute({
      method: 'DELETE',
      path: '/groups/{id}',
      sensitivity: 'sensitive',
      tag,
      summary: 'Delete a group; its members stay as users',
      params: idParams,
      success: { status: 204 },
      handle: async ({ params, ifVersion }): Promise<Answer<never> | undefined> => {
        await groups.remove(params.id, { ifVersion });
        return undefined;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/groups/{id}/members',
      sensitivity: 'plain',
      tag,
      summary: 'List the members of a group',
      params: idParams,
      query: listQuerySchema(members),
      success: { status: 200, schema: pageSchema(userSchema) },
      handle: async ({ params, query }) => {
        await get(params.id);
        const list = { ...members, name: `members-of-${params.id}` };
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) =>
            users.query({ ...wanted, filters: [...(wanted.filters ?? []), memberFilter(params.id)] }),
          recordOf: (account) => account,
          idOf: (account) => account.id,
        });
        const now = clock();
        return { data: { ...page, items: page.items.map((account) => toUser(account, now)) } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/groups/{id}/members',
      sensitivity: 'sensitive',
      isUnversioned: true,
      tag,
      summary: 'Put a user into a group; nothing happens to one who is in it',
      params: idParams,
      body: userIdBody,
      success: { status: 200, schema: userSchema, hasVersion: true },
      handle: async ({ params, body }) => {
        const account = await groups.addMember(params.id, body.user_id);
        return { data: toUser(account, clock()), version: account.version };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/groups/{id}/members/{user_id}',
      sensitivity: 'plain',
      isUnversioned: true,
      tag,
      summary: 'Take a user out of a group',
      params: memberParams,
      success: { status: 204 },
      handle: async ({ params }): Promise<Answer<never> | undefined> => {
        await groups.removeMember(params.id, params.user_id);
        return undefined;
      },
    }),
  ];
}
