// The page of sessions: who is signed in where, and ending a session.
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, idOf, type Page, post } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { sessionPage } from './page.ts';
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
  more: async (context, items) => {
    const nameOf = createNames(context);
    const withName = async (row: (typeof items)[number]) => ({
      ...row,
      user: await nameOf('user', row.user_id),
    });
    return { ownSession: context.admin.sessionUid, rows: await Promise.all(items.map(withName)) };
  },
});

/** A field of the form of `askAboutOwn`. */
const OWN = 'is_own';

export const isConfirmed = ({ form }: Pick<AdminContext, 'form'>): boolean => form.get(OWN) === 'confirmed';

/** Of the browser that asks, which would otherwise end in the sign-in without a word. */
export function askAboutOwn(
  context: AdminContext,
  asked: { readonly path: string; readonly back: string; readonly button: string; readonly user?: string },
): void {
  const { path, back, button, user = '' } = asked;
  const heading = 'This is the session you are using';
  context.show('confirm', {
    title: heading,
    here: 'sessions',
    ask: {
      heading,
      consequences: [
        'You are signed out of the Admin UI and of every application in this browser.',
        'To continue here you sign in again.',
      ],
      button,
      isDanger: true,
    },
    action: path,
    back,
    hidden: { user_id: user, [OWN]: 'confirmed' },
    typed: '',
    values: {},
  });
}

/** Returns to the page that had the button: the list or a user's page. */
async function end(context: AdminContext): Promise<void> {
  const user = context.form.get('user_id') ?? '';
  const { id } = idOf(context);
  const back = user === '' ? '/sessions' : `/users/${encodeURIComponent(user)}`;
  if (id === context.admin.sessionUid && !isConfirmed(context))
    return askAboutOwn(context, { path: `/sessions/${id}/end`, back, user, button: 'End my session' });
  await context.call(sessions.remove, { params: idOf(context) });
  context.go(back, 'session-ended');
}

export const sessionPages: readonly Page[] = [list, sessionPage, post('/sessions/:id/end', end)];
