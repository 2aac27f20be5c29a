// The list of groups, and the forms for a new group and for its name and description.
import { groupRows } from '../../../model/groups/rows.ts';
import { phrase } from '../../../phrase.ts';
import { textOrNull, versionOf } from '../../pages/field-values.ts';
import { formPages, shows } from '../../pages/form-pages.ts';
import { count } from '../../pages/format.ts';
import { listPage } from '../../pages/list-page.ts';
import { newPages } from '../../pages/new-page.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { code, link, rowLink, small, text, unseen, when } from '../../pages/parts.ts';
import { users } from '../users/resource.ts';
import { groupLabel } from './choice.ts';
import { groupMembers, groups } from './resource.ts';

const here = 'groups';
const crumb = { label: 'Groups', href: '/groups' };

/** Counting the members of a group reads every user; this bounds the reads of one page. */
const MOST_LOOKS = 500_000;

/** @returns the number of members of each group; none where there are too many users to count */
async function memberCounts(
  context: AdminContext,
  items: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const { data } = await context.call(users.list, { query: { limit: '1' } });
  if (items.length * data.total > MOST_LOOKS) return counts;
  for (const { id } of items) {
    const members = await context.call(groupMembers.list, { params: { id }, query: { limit: '1' } });
    counts.set(id, members.data.total);
  }
  return counts;
}

const list = listPage({
  path: '/groups',
  title: 'Groups',
  here,
  list: groups.list,
  async rowsOf(context, items) {
    const counts = await memberCounts(context, items);
    return items.map((group) => ({ ...group, label: groupLabel(group), members: counts.get(group.id) }));
  },
  columns: [
    {
      label: 'Group',
      sort: 'display_name',
      cell: ({ id, label, description }) => [
        rowLink(`/groups/${id}`, label),
        ...(description === null ? [] : [small([text(description)], 'cut')]),
      ],
    },
    { label: 'Name in tokens', sort: 'name', look: 'wide', cell: ({ name }) => [code(name)] },
    {
      label: 'Members',
      look: 'number',
      cell: ({ id, label, members }) => [
        members === undefined
          ? link(`/groups/${id}`, 'Show')
          : link(`/users?group=${id}`, unseen(phrase`Users in ${label}: `), count(members)),
      ],
    },
    { label: 'Created', sort: 'created_at', look: 'wide', cell: (group) => [when(group.created_at)] },
  ],
  search: 'Search by name',
  noun: ['group', 'groups'],
  add: { path: '/groups/new', label: 'Add group' },
  empty: {
    icon: 'groups',
    title: 'No groups yet',
    text: 'Groups control access: applications get them in tokens, and you can restrict an application to members of a group.',
  },
});

const create = newPages({
  path: '/groups/new',
  title: 'Add group',
  here,
  crumbs: [crumb],
  fields: [
    {
      name: 'name',
      label: groupRows.name.label,
      hint: groupRows.name.hint,
      attributes:
        'required maxlength="64" pattern="[a-z0-9][a-z0-9._\\-]*" autocomplete="off" autocapitalize="none" spellcheck="false"',
    },
    {
      name: 'display_name',
      label: 'Name (optional)',
      hint: groupRows.display_name.hint,
      attributes: 'maxlength="200" autocomplete="off"',
      toMember: textOrNull,
    },
    {
      name: 'description',
      label: 'Description (optional)',
      hint: groupRows.description.hint,
      attributes: 'maxlength="2000" autocomplete="off"',
      toMember: textOrNull,
    },
  ],
  button: 'Add group',
  back: '/groups',
  isSensitive: false,
  async create(context, body) {
    const { data } = await context.call(groups.create, { body });
    context.go(`/groups/${data.id}`, 'group-created');
  },
});

const showEdit = shows('group-edit', async (context) => {
  const { data: group, version } = await context.call(groups.read, { params: idOf(context) });
  const crumbs = [crumb, { label: groupLabel(group), href: `/groups/${group.id}`, isName: true }];
  const model = { title: 'Edit', here, crumbs, group, version, values: group, isStale: false };
  return { ...model, groupLabel };
});

const edit = formPages({
  path: '/groups/:id/edit',
  show: showEdit,
  async submit(context) {
    const { form } = context;
    await context.call(groups.change, {
      params: idOf(context),
      ifVersion: versionOf(form),
      body: {
        display_name: textOrNull(form.get('display_name')),
        description: textOrNull(form.get('description')),
      },
    });
    context.go(`/groups/${idOf(context).id}`, 'group-saved');
  },
});

export const groupListPages: readonly Page[] = [list, ...create, ...edit];
