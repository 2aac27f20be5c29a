// The page of sessions: who is signed in where, and ending a session.
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { sessions } from './resource.ts';

const chips = [
  { label: 'Active', set: { is_active: 'true' } },
  { label: 'Ended', set: { is_active: 'false' } },
];

async function list(context: AdminContext): Promise<void> {
  const { query, admin } = context;
  const { data } = await context.call(sessions.list, { query });
  const links = listLinks(context, sessions.list, data, { chips });
  context.show('sessions', {
    title: 'Sessions',
    here: 'sessions',
    list: links,
    ownSession: admin.sessionUid,
  });
}

/** Returns to the page that had the button: the list or a user's page. */
async function end(context: AdminContext): Promise<void> {
  const user = context.form.get('user_id') ?? '';
  await context.call(sessions.remove, { params: idOf(context) });
  context.go(user === '' ? '/sessions' : `/users/${encodeURIComponent(user)}`, 'session-ended');
}

export const sessionPages: readonly Page[] = [
  { method: 'GET', path: '/sessions', handle: list },
  { method: 'POST', path: '/sessions/:id/end', handle: end },
];
