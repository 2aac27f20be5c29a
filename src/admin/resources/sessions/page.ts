// The page of one session: what it is, and what happened in it.
import { get, idOf, type Page } from '../../pages/page.ts';
import { auditLog } from '../audit/resource.ts';
import { createNames, shownEvents } from '../names.ts';
import { eventsMeanwhile } from './events-meanwhile.ts';
import { sessions } from './resource.ts';

const TRAIL = 10;

export const sessionPage: Page = get('/sessions/:id', async (context) => {
  const { data: session } = await context.call(sessions.read, { params: idOf(context) });
  // Events say in which session they happened, or which one they are about: its id is in their text.
  const query = { search: session.id, limit: String(TRAIL) };
  const { data: events } = await context.call(auditLog.list, { query });
  const nameOf = createNames(context);
  context.show('session', {
    title: 'Session',
    here: 'sessions',
    crumbs: [{ label: 'Sessions', href: '/sessions' }],
    session,
    user: await nameOf('user', session.user_id),
    isOwn: session.id === context.admin.sessionUid,
    trail: await shownEvents(events.items, nameOf),
    meanwhile: eventsMeanwhile(session),
  });
});
