// Owns the page of sessions: who is signed in where, and the end of it.
import { listLinks } from '../../pages/list-links.ts';
import type { Page, Visit } from '../../pages/page.ts';

const chips = [
  { label: 'Active', set: { is_active: 'true' } },
  { label: 'Over', set: { is_active: 'false' } },
];

async function list(visit: Visit): Promise<void> {
  const { query, ctx, who } = visit;
  const { data } = await visit.call('GET /sessions', { query });
  const links = listLinks({ path: ctx.path, query, page: data, defaultSort: 'last_activity_at', chips });
  visit.show('sessions', { title: 'Sessions', here: 'sessions', list: links, ownSession: who.sessionUid });
}

/** From the list, or from a user's page: back to where the press came from. */
async function end(visit: Visit): Promise<void> {
  const user = visit.form.get('user_id') ?? '';
  await visit.call('DELETE /sessions/{id}', { params: { id: visit.params.id ?? '' } });
  visit.go(user === '' ? '/sessions' : `/users/${encodeURIComponent(user)}`, 'session-ended');
}

export const sessionPages: readonly Page[] = [
  { method: 'GET', path: '/sessions', handle: list },
  { method: 'POST', path: '/sessions/:id/end', handle: end },
];
