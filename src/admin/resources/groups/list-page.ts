// Owns the pages of groups as a list, the making of one, and the form with how it is called and described.
import { refusalOf, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { groupLabel } from './choice.ts';
import { groupMembers, groups } from './resource.ts';

const here = 'groups';
const crumb = { label: 'Groups', href: '/groups' };

/** A count looks at every user, so that this many looks are the most that a page may cost. */
const MOST_LOOKS = 500_000;

/** @returns how many belong to each of them; none where there are too many people to count them here */
async function memberCounts(
  context: AdminContext,
  items: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const { data } = await context.callByName('GET /users', { query: { limit: '1' } });
  if (items.length * Number(data.total) > MOST_LOOKS) return counts;
  for (const { id } of items) {
    const members = await context.call(groupMembers.list, { params: { id }, query: { limit: '1' } });
    counts.set(id, members.data.total);
  }
  return counts;
}

async function list(context: AdminContext): Promise<void> {
  const { query, ctx } = context;
  const { data } = await context.call(groups.list, { query });
  const links = listLinks({
    path: ctx.path,
    query,
    page: data,
    defaultSort: groups.list.sort,
    defaultOrder: groups.list.order,
  });
  const counts = await memberCounts(context, data.items);
  context.show('groups', {
    title: 'Groups',
    here,
    list: links,
    groupLabel,
    membersOf: (id: string) => counts.get(id),
  });
}

const showNew = (context: AdminContext, model: object = {}, status = 200): void =>
  context.show('group-new', { title: 'Create a group', here, crumbs: [crumb], values: {}, ...model }, status);

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  try {
    const { data } = await context.call(groups.create, {
      body: {
        name: (form.get('name') ?? '').trim(),
        display_name: textOrNull(form.get('display_name')),
        description: textOrNull(form.get('description')),
      },
    });
    context.go(`/groups/${data.id}`, 'group-created');
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    showNew(context, { values: typedIn(form), alert, errors }, status);
  }
}

const idOf = ({ params }: AdminContext): { id: string } => ({ id: params.id ?? '' });

interface Edit {
  readonly values?: Values;
  readonly alert?: string;
  readonly errors?: Readonly<Record<string, string>>;
  readonly isStale?: boolean;
}

async function showEdit(context: AdminContext, edit: Edit = {}, status = 200): Promise<void> {
  const { data: group, version } = await context.call(groups.read, { params: idOf(context) });
  const crumbs = [crumb, { label: groupLabel(group), href: `/groups/${group.id}` }];
  const model = { title: 'Edit', here, crumbs, group, version, values: group, isStale: false };
  context.show('group-edit', { ...model, groupLabel, ...edit }, status);
}

async function edit(context: AdminContext): Promise<void> {
  const { form } = context;
  try {
    await context.call(groups.change, {
      params: idOf(context),
      ifVersion: versionOf(form),
      body: {
        display_name: textOrNull(form.get('display_name')),
        description: textOrNull(form.get('description')),
      },
    });
    context.go(`/groups/${idOf(context).id}`, 'group-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    await showEdit(
      context,
      { values: typedIn(form), errors, isStale, ...(isStale ? {} : { alert }) },
      status,
    );
  }
}

export const groupListPages: readonly Page[] = [
  { method: 'GET', path: '/groups', handle: list },
  { method: 'GET', path: '/groups/new', needs: 'admin', handle: async (context) => showNew(context) },
  { method: 'POST', path: '/groups/new', handle: create },
  { method: 'GET', path: '/groups/:id/edit', needs: 'admin', handle: (context) => showEdit(context) },
  { method: 'POST', path: '/groups/:id/edit', handle: edit },
];
