// Groups and their members.
import { type Account, type Group, memberFilter, toGroup, toUser } from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import { groupRows, newGroupRows } from '../../../model/groups/rows.ts';
import { groups as collection, type GroupRecord } from '../../../store/administration.ts';
import { accounts } from '../../../store/collections.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { bodySchema, viewSchema } from '../../api/resource-schemas.ts';
import { noContent } from '../../api/route.ts';
import { idParams, memberParams, userIdBody } from '../../api/shared.ts';
import { searchedUsers } from '../users/list.ts';
import { userSchema } from '../users/schema.ts';

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

const groupSchema = viewSchema(groupRows, { description: 'A group.' });

async function get(name: string, { groups }: AdminPorts): Promise<Group> {
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
    present: (items: readonly Group[]) => items.map(toGroup),
    versionOf: ({ version }) => version,
  },
  (on) => {
    const change = (method: 'PUT' | 'PATCH') =>
      on.change({
        method,
        summary: 'Change a group: only the given fields change; null clears a field',
        event: 'group.updated',
        isBodyShown: true,
        body: bodySchema(groupRows, []),
        run: ({ params, body, ifVersion }, ports) => ports.groups.update(params.id, body, { ifVersion }),
      });
    return {
      create: on.create({
        summary: 'Create a group',
        event: 'group.created',
        isBodyShown: true,
        body: bodySchema(newGroupRows(), ['name']),
        answer: groupSchema,
        hasVersion: true,
        async run({ body }, ports) {
          const { name, ...fields } = body;
          const group = await ports.groups.create(String(name), fields);
          return { data: toGroup(group), version: group.version, id: group.id };
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
    present: (accounts: readonly Account[], { clock }: AdminPorts) =>
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
    add: on.route('POST /groups/{id}/members', {
      isUnversioned: true,
      summary: 'Add a user to a group; has no effect for a member',
      recorded: { ...membership, event: 'group.member_added' },
      params: idParams,
      body: userIdBody,
      answer: userSchema,
      hasVersion: true,
      async run({ params, body }, ports) {
        const account = await ports.groups.addMember(params.id, body.user_id);
        return { data: toUser(account, ports.clock()), version: account.version };
      },
    }),
    remove: on.route('DELETE /groups/{id}/members/{user_id}', {
      isUnversioned: true,
      summary: 'Remove a user from a group',
      recorded: { ...membership, event: 'group.member_removed' },
      params: memberParams,
      async run({ params }, ports) {
        await ports.groups.removeMember(params.id, params.user_id);
        return noContent;
      },
    }),
  }),
);
