// Owns the pages of groups as a list, the making of one, and the form with how it is called and described.
import { itemsOf, refusalOf, textOf, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { groupLabel } from '../../pages/group-choice.ts';
import { listLinks } from '../../pages/list-links.ts';
import type { Page, Values, Visit } from '../../pages/page.ts';

const here = 'groups';
const crumb = { label: 'Groups', href: '/groups' };

/** A count looks at every user, so that this many looks are the most that a page may cost. */
const MOST_LOOKS = 500_000;

/** @returns how many belong to each of them; none where there are too many people to count them here */
async function memberCounts(visit: Visit, groups: readonly Values[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const { data } = await visit.call('GET /users', { query: { limit: '1' } });
  if (groups.length * Number(data.total) > MOST_LOOKS) return counts;
  for (const group of groups) {
    const id = textOf(group, 'id');
    const members = await visit.call('GET /groups/{id}/members', { params: { id }, query: { limit: '1' } });
    counts.set(id, Number(members.data.total));
  }
  return counts;
}

async function list(visit: Visit): Promise<void> {
  const { query, ctx } = visit;
  const { data } = await visit.call('GET /groups', { query });
  const links = listLinks({
    path: ctx.path,
    query,
    page: data,
    defaultSort: 'name',
    defaultOrder: 'asc',
  });
  const counts = await memberCounts(visit, itemsOf(data));
  visit.show('groups', {
    title: 'Groups',
    here,
    list: links,
    groupLabel,
    membersOf: (id: string) => counts.get(id),
  });
}

const showNew = (visit: Visit, model: object = {}, status = 200): void =>
  visit.show('group-new', { title: 'Create a group', here, crumbs: [crumb], values: {}, ...model }, status);

async function create(visit: Visit): Promise<void> {
  const { form } = visit;
  try {
    const { data } = await visit.call('POST /groups', {
      body: {
        name: (form.get('name') ?? '').trim(),
        display_name: textOrNull(form.get('display_name')),
        description: textOrNull(form.get('description')),
      },
    });
    visit.go(`/groups/${textOf(data, 'id')}`, 'group-created');
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    showNew(visit, { values: typedIn(form), alert, errors }, status);
  }
}

const idOf = ({ params }: Visit): { id: string } => ({ id: params.id ?? '' });

interface Edit {
  readonly values?: Values;
  readonly alert?: string;
  readonly errors?: Readonly<Record<string, string>>;
  readonly isStale?: boolean;
}

async function showEdit(visit: Visit, edit: Edit = {}, status = 200): Promise<void> {
  const { data: group, version } = await visit.call('GET /groups/{id}', { params: idOf(visit) });
  const crumbs = [crumb, { label: groupLabel(group), href: `/groups/${textOf(group, 'id')}` }];
  const model = { title: 'Edit', here, crumbs, group, version, values: group, isStale: false };
  visit.show('group-edit', { ...model, groupLabel, ...edit }, status);
}

async function edit(visit: Visit): Promise<void> {
  const { form } = visit;
  try {
    await visit.call('PATCH /groups/{id}', {
      params: idOf(visit),
      ifVersion: versionOf(form),
      body: {
        display_name: textOrNull(form.get('display_name')),
        description: textOrNull(form.get('description')),
      },
    });
    visit.go(`/groups/${idOf(visit).id}`, 'group-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    await showEdit(visit, { values: typedIn(form), errors, isStale, ...(isStale ? {} : { alert }) }, status);
  }
}

export const groupListPages: readonly Page[] = [
  { method: 'GET', path: '/groups', handle: list },
  { method: 'GET', path: '/groups/new', needs: 'admin', handle: async (visit) => showNew(visit) },
  { method: 'POST', path: '/groups/new', handle: create },
  { method: 'GET', path: '/groups/:id/edit', needs: 'admin', handle: (visit) => showEdit(visit) },
  { method: 'POST', path: '/groups/:id/edit', handle: edit },
];
