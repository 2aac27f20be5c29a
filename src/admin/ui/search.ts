// Owns the search in the bar on top: users and applications from anywhere.
import { itemsOf } from './field-values.ts';
import type { Page, Visit } from './page.ts';

const LIMIT = '8';

async function search(visit: Visit): Promise<void> {
  const text = (visit.query.get('q') ?? '').trim().slice(0, 200);
  const query = { search: text, limit: LIMIT };
  const [users, applications] =
    text === ''
      ? [undefined, undefined]
      : await Promise.all([visit.call('GET /users', { query }), visit.call('GET /clients', { query })]);
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
