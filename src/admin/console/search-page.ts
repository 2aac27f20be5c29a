// The search in the top bar: users and applications.
import { itemsOf, textOf } from '../pages/field-values.ts';
import type { AdminContext, Page, Values } from '../pages/page.ts';

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

async function search(context: AdminContext): Promise<void> {
  const text = (context.query.get('q') ?? '').trim().slice(0, 200);
  const query = { search: text, limit: LIMIT };
  const [users, applications] =
    text === ''
      ? [undefined, undefined]
      : await Promise.all([
          context.callByName('GET /users', { query }),
          context.callByName('GET /clients', { query }),
        ]);
  // For the palette (templates/assets/comfort.js).
  if (context.ctx.accepts('html', 'json') === 'json') {
    context.ctx.body = {
      items: [
        ...itemsOf(users?.data ?? {}).map(userRow),
        ...itemsOf(applications?.data ?? {}).map(clientRow),
      ],
    };
    return;
  }
  context.show('search', {
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
