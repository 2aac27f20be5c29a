// Groups and their members.
import { Object as ObjectSchema, Optional, String as StringSchema } from 'typebox';
import {
  type Account,
  type Accounts,
  type Group,
  type Groups,
  groupNamePattern,
  memberFilter,
  toUser,
} from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import { groups as collection, type GroupRecord } from '../../../store/administration.ts';
import { accounts } from '../../../store/collections.ts';
import { defineResource, type ListPorts } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { noContent } from '../../api/route.ts';
import { createdAt, DOCUMENTED, nullable, strict, updatedAt } from '../../api/schema-parts.ts';
import { idParams, memberParams, userIdBody } from '../../api/shared.ts';
import { searchedUsers } from '../users/list.ts';
import { userSchema } from '../users/schema.ts';

export type GroupsPort = Omit<Groups, 'finishRemovals' | 'missing'>;

interface Ports extends ListPorts {
  readonly groups: GroupsPort;
  readonly accounts: Pick<Accounts, 'query'>;
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
  sorts: ['username', 'name', 'email', 'created_at', 'last_login_at', 'id'],
  defaultOrder: 'asc',
  ...searchedUsers,
  times: ['created_at', 'last_login_at'],
};

const displayNameMeaning = 'A name for people.';
const descriptionMeaning = 'What the group is for.';

export const groupSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'The same as the name.', examples: ['staff'] }),
    name: StringSchema({
      description: 'The value in the claim `groups`; it never changes.',
      examples: ['staff'],
    }),
    display_name: nullable(StringSchema(), { description: displayNameMeaning }),
    description: nullable(StringSchema(), { description: descriptionMeaning }),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  { ...strict, description: 'A group.' },
);
const fields = {
  display_name: Optional(nullable(StringSchema({ maxLength: 200 }), { description: displayNameMeaning })),
  description: Optional(nullable(StringSchema({ maxLength: 2000 }), { description: descriptionMeaning })),
};
const nameRule =
  'The value in the claim `groups`; it never changes. Lower-case letters, digits, dots, hyphens and underscores; starts with a letter or digit.';
const newGroupSchema = ObjectSchema(
  {
    name: StringSchema({
      maxLength: 64,
      description: nameRule,
      examples: ['staff'],
      [DOCUMENTED]: { pattern: groupNamePattern },
    }),
    ...fields,
  },
  strict,
);
const groupChangesSchema = ObjectSchema(fields, strict);

const show = ({ id: name, value }: Group) => ({
  id: name,
  name,
  display_name: value.displayName ?? null,
  description: value.description ?? null,
  created_at: new Date(value.createdAt).toISOString(),
  updated_at: new Date(value.updatedAt).toISOString(),
});

async function get(name: string, { groups }: Ports): Promise<Group> {
  const group = await groups.find(name);
  if (group === undefined) throw new AppError('group.not_found');
  return group;
}

export const groups = defineResource(
  {
    path: '/groups',
    tag: 'Groups',
    target: 'group',
    view: groupSchema,
    present: (items: readonly Group[], _: Ports) => items.map(show),
    versionOf: ({ version }) => version,
  },
  (on) => {
    const change = (method: 'PUT' | 'PATCH') =>
      on.change({
        method,
        summary: 'Change a group: only the given fields change; null clears a field',
        event: 'group.updated',
        isBodyShown: true,
        body: groupChangesSchema,
        run: ({ params, body, ifVersion }, ports) =>
          ports.groups.update(
            params.id,
            { displayName: body.display_name, description: body.description },
            { ifVersion },
          ),
      });
    return {
      create: on.create({
        summary: 'Create a group',
        event: 'group.created',
        isBodyShown: true,
        body: newGroupSchema,
        answer: groupSchema,
        hasVersion: true,
        async run({ body }, ports) {
          const { display_name: displayName, description } = body;
          const group = await ports.groups.create(body.name, { displayName, description });
          return { data: show(group), version: group.version, id: group.id };
        },
      }),
      list: on.list({
        summary: 'List groups',
        list,
        query: (wanted, ports) => ports.groups.query(wanted),
        recordOf: ({ value }) => value,
      }),
      read: on.read({
        summary: 'Read a group',
        find: (name, ports) => ports.groups.find(name),
        missing: 'group.not_found',
      }),
      replace: change('PUT'),
      change: change('PATCH'),
      remove: on.remove({
        summary: 'Delete a group; its members remain users',
        event: 'group.removed',
        params: idParams,
        run: ({ params, ifVersion }, ports) => ports.groups.remove(params.id, { ifVersion }),
      }),
    };
  },
);

const membership = { target: 'user', isMembership: true } as const;

export const groupMembers = defineResource(
  {
    path: '/groups/{id}/members',
    tag: 'Groups',
    view: userSchema,
    present: (accounts: readonly Account[], { clock }: Ports) =>
      accounts.map((account) => toUser(account, clock())),
  },
  (on) => ({
    list: on.list({
      summary: 'List the members of a group',
      params: idParams,
      before: ({ params }, ports) => get(params.id, ports),
      list: members,
      query: (wanted, { accounts }, { params }) =>
        accounts.query({ ...wanted, filters: [...(wanted.filters ?? []), memberFilter(params.id)] }),
      recordOf: (account) => account,
    }),
    add: on.route({
      method: 'POST',
      path: '/groups/{id}/members',
      isUnversioned: true,
      summary: 'Add a user to a group; has no effect for a member',
      recorded: { ...membership, event: 'group.member_added' },
      params: idParams,
      body: userIdBody,
      success: { status: 200, schema: userSchema, hasVersion: true },
      async run({ params, body }, ports) {
        const account = await ports.groups.addMember(params.id, body.user_id);
        return { data: toUser(account, ports.clock()), version: account.version };
      },
    }),
    remove: on.route({
      method: 'DELETE',
      path: '/groups/{id}/members/{user_id}',
      isUnversioned: true,
      summary: 'Remove a user from a group',
      recorded: { ...membership, event: 'group.member_removed' },
      params: memberParams,
      success: { status: 204 },
      async run({ params }, ports) {
        await ports.groups.removeMember(params.id, params.user_id);
        return noContent;
      },
    }),
  }),
);
