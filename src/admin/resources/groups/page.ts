// The page of one group: its members, the applications it gives access to, and its deletion. A user's page shows the
// reverse: the groups of the user.

import type { toGroup, User } from '../../../accounts/index.ts';
import type { ApiView } from '../../../apis/index.ts';
import type { ClientView } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { type PageText, phrase } from '../../../phrase.ts';
import { actPages, type Kind } from '../../pages/acts.ts';
import { orShown, shows } from '../../pages/form-pages.ts';
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, get, idOf, type Page, post } from '../../pages/page.ts';
import { apis } from '../apis/resource.ts';
import { applicationName } from '../clients/page.ts';
import { clients } from '../clients/resource.ts';
import { showUser } from '../users/page.ts';
import { users } from '../users/resource.ts';
import { groupLabel } from './choice.ts';
import { groupMembers, groups } from './resource.ts';

const here = 'groups';
const PAGE = '25';
/** The number of applications listed by name; others are only counted. */
const FEW = 20;
const SIMILAR = 5;

interface Restricted {
  readonly applications: readonly ClientView[];
  readonly applicationTotal: number;
  /** APIs with a scope for its members. */
  readonly apis: readonly ApiView[];
}

/** The applications that only members of the group may sign in to, and the APIs with a scope for them. */
async function restrictedTo(context: AdminContext, group: string): Promise<Restricted> {
  const limit = String(FEW);
  const [{ data }, found] = await Promise.all([
    context.call(clients.list, { query: { allowed_group: group, limit } }),
    context.call(apis.list, { query: { scope_group: group, limit } }),
  ]);
  return { applications: data.items, applicationTotal: data.total, apis: found.data.items };
}

const showGroup = shows('group', async (context) => {
  const params = idOf(context);
  const { data: group } = await context.call(groups.read, { params });
  // The response to a form has the form's address, which has no parameters of the list.
  const isAnswer = context.ctx.method === 'POST';
  const query = isAnswer ? new URLSearchParams() : new URLSearchParams(context.query);
  const asked = new URLSearchParams(query);
  if (!asked.has('limit')) asked.set('limit', PAGE);
  const [members, restricted] = await Promise.all([
    context.call(groupMembers.list, { params, query: asked }),
    restrictedTo(context, params.id),
  ]);
  const path = `/admin/groups/${params.id}`;
  const list = listLinks(context, groupMembers.list, members.data, { path, query });
  const own = {
    title: groupLabel(group),
    isTitleName: true,
    here,
    crumbs: [{ label: 'Groups', href: '/groups' }],
  };
  return { ...own, group, list, ...restricted, similar: [], values: {}, isUnknown: false };
});

/** @returns the user with this username or e-mail address */
async function findUser(context: AdminContext, text: string): Promise<User | undefined> {
  const query = { [text.includes('@') ? 'email' : 'username']: text, limit: '1' };
  return (await context.call(users.list, { query })).data.items[0];
}

/** Suggests users for a partial name. */
async function similarTo(context: AdminContext, text: string): Promise<readonly User[]> {
  const query = { search: text.slice(0, 200), limit: String(SIMILAR), sort: 'username', order: 'asc' };
  return (await context.call(users.list, { query })).data.items;
}

const addMember = orShown(async (context) => {
  const params = idOf(context);
  // By "Undo", which knows the user.
  const known = context.form.get('user_id') ?? '';
  if (known !== '') {
    await context.call(groupMembers.add, { params, body: { user_id: known } });
    return context.go(`/groups/${params.id}`, 'member-added');
  }
  const who = (context.form.get('who') ?? '').trim();
  const unknown = { values: { who }, isUnknown: true };
  if (who === '')
    return showGroup(context, { ...unknown, alert: 'Enter a username or an e-mail address.' }, 400);
  const user = who.length > 512 ? undefined : await findUser(context, who);
  if (user === undefined) {
    const similar = await similarTo(context, who);
    return showGroup(context, { ...unknown, similar, alert: 'User not found.' }, 400);
  }
  await context.call(groupMembers.add, { params, body: { user_id: user.id } });
  context.go(`/groups/${params.id}`, 'member-added');
}, showGroup);

/** A member whom another administrator removed at the same time counts as removed. */
async function takeOut(context: AdminContext, group: string, user: string): Promise<void> {
  try {
    await context.call(groupMembers.remove, { params: { id: group, user_id: user } });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'group.not_member') throw error;
  }
}

async function addGroup(context: AdminContext): Promise<void> {
  const user = idOf(context).id;
  const group = (context.form.get('group') ?? '').trim();
  if (group === '') return showUser(context, { alert: 'Select a group.' }, 400);
  try {
    await context.call(groupMembers.add, { params: { id: group }, body: { user_id: user } });
  } catch (error) {
    const isUnknown =
      error instanceof AppError && ['group.not_found', 'request.not_found'].includes(error.code);
    if (isUnknown) return showUser(context, { alert: 'Group not found.' }, 400);
    throw error;
  }
  context.go(`/users/${user}`, 'member-added');
}

type Doomed = ReturnType<typeof toGroup> & Restricted & { readonly memberTotal: number };

const kind: Kind<Doomed> = {
  here,
  crumbs: [{ label: 'Groups', href: '/groups' }],
  path: '/groups',
  nameOf: groupLabel,
  showItem: showGroup,
  async read(context, id) {
    const { data } = await context.call(groups.read, { params: { id } });
    const members = await context.call(groupMembers.list, {
      params: { id },
      query: { limit: '1' },
    });
    return { ...data, memberTotal: members.data.total, ...(await restrictedTo(context, id)) };
  },
};

function consequences(group: Doomed): PageText[] {
  const members = group.memberTotal;
  const names = group.applications.map(applicationName);
  const others = group.applicationTotal - names.length;
  const whose = [...names, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  return [
    members === 0
      ? 'It has no members.'
      : `${members === 1 ? 'Its member loses' : `Its ${members} members lose`} the access it grants. The users are not deleted.`,
    'It is no longer in the claim “groups” of tokens.',
    ...(names.length > 0
      ? [
          phrase`Only its members can sign in to ${whose}. Change that first; otherwise the group cannot be deleted.`,
        ]
      : []),
    ...(group.apis.length > 0
      ? [
          phrase`Scopes of ${group.apis.map(({ name }) => name).join(', ')} are for its members. Change that first; otherwise the group cannot be deleted.`,
        ]
      : []),
  ];
}

const acts = actPages(kind, [
  {
    name: 'delete',
    run: (context, id) => context.call(groups.remove, { params: { id } }),
    notice: 'group-deleted',
    isEnd: true,
    ask: (group) => ({
      heading: phrase`Delete the group ${groupLabel(group)}?`,
      consequences: consequences(group),
      button: 'Delete group',
      isDanger: true,
      typed: group.name,
    }),
  },
]);

export const groupPages: readonly Page[] = [
  get('/groups/:id', (context) => showGroup(context)),
  post('/groups/:id/members', addMember),
  post('/groups/:id/members/:user_id/remove', async (context) => {
    const { id } = idOf(context);
    const user = context.params.user_id ?? '';
    await takeOut(context, id, user);
    context.go(`/groups/${id}`, 'member-removed', {
      path: `/groups/${id}/members`,
      fields: { user_id: user },
    });
  }),
  post('/users/:id/groups', orShown(addGroup, showUser)),
  post('/users/:id/groups/:group_id/remove', async (context) => {
    const { id } = idOf(context);
    const group = context.params.group_id ?? '';
    await takeOut(context, group, id);
    context.go(`/users/${id}`, 'member-removed', { path: `/users/${id}/groups`, fields: { group } });
  }),
  ...acts,
];
