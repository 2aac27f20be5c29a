// The page of sessions: who is signed in where, and ending a session.
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { sessions } from './resource.ts';

const list = drawnList({
  path: '/sessions',
  title: 'Sessions',
  here: 'sessions',
  template: 'sessions',
  list: sessions.list,
  chips: [
    { label: 'Active', set: { is_active: 'true' } },
    { label: 'Ended', set: { is_active: 'false' } },
  ],
  more: async ({ admin }) => ({ ownSession: admin.sessionUid }),
});

/** Returns to the page that had the button: the list or a user's page. */
async function end(context: AdminContext): Promise<void> {
  const user = context.form.get('user_id') ?? '';
  await context.call(sessions.remove, { params: idOf(context) });
  context.go(user === '' ? '/sessions' : `/users/${encodeURIComponent(user)}`, 'session-ended');
}

export const sessionPages: readonly Page[] = [
  list,
  { method: 'POST', path: '/sessions/:id/end', handle: end },
];
