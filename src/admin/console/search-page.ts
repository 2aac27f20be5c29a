// Owns the search in the bar on top: users and applications from anywhere.
import { itemsOf, textOf } from '../pages/field-values.ts';
import type { Page, Values, Visit } from '../pages/page.ts';

const LIMIT = '8';

const userRow = (user: Values) => ({
  label: textOf(user, 'username'),
  note: textOf(user, 'email') || 'User',
  path: `/users/${textOf(user, 'id')}`,
});

const clientRow = (client: Values) => ({
  label: textOf(client, 'client_name') || textOf(client, 'client_id'),
  note: 'Application',
  path: `/applications/${encodeURIComponent(textOf(client, 'client_id'))}`,
});

async function search(visit: Visit): Promise<void> {
  const text = (visit.query.get('q') ?? '').trim().slice(0, 200);
  const query = { search: text, limit: LIMIT };
  const [users, applications] =
    text === ''
      ? [undefined, undefined]
      : await Promise.all([visit.call('GET /users', { query }), visit.call('GET /clients', { query })]);
  // For the palette (templates/assets/comfort.js).
  if (visit.ctx.accepts('html', 'json') === 'json') {
    visit.ctx.body = {
      items: [
        ...itemsOf(users?.data ?? {}).map(userRow),
        ...itemsOf(applications?.data ?? {}).map(clientRow),
      ],
    };
    return;
  }
  visit.show('search', {
    title: 'Search',
    here: '',
    searchText: text,
    users: itemsOf(users?.data ?? {}),
    userTotal: Number(users?.data.total ?? 0),
    applications: itemsOf(applications?.data ?? {}),
    applicationTotal: Number(applications?.data.total ?? 0),
  });
}

export const searchPages: readonly Page[] = [{ method: 'GET', path: '/search', handle: search }];
