// The search in the top bar: users, applications and APIs.
import type { User } from '../../accounts/index.ts';
import type { ApiView } from '../../apis/index.ts';
import type { ClientView } from '../../clients/index.ts';
import { personName } from '../pages/format.ts';
import { type AdminContext, get, type Page } from '../pages/page.ts';
import { apis } from '../resources/apis/resource.ts';
import { applicationName } from '../resources/clients/page.ts';
import { clients } from '../resources/clients/resource.ts';
import { users } from '../resources/users/resource.ts';

const LIMIT = '8';

const userRow = (user: User) => ({
  label: personName(user),
  note: user.email || user.username,
  path: `/users/${user.id}`,
  kind: 'user',
  /** What tells it from others of its name. */
  key: user.email || user.username,
});

const clientRow = (client: ClientView) => ({
  label: applicationName(client),
  note: 'Application',
  path: `/applications/${encodeURIComponent(client.client_id)}`,
  kind: 'application',
  key: client.client_id,
});

const apiRow = ({ id, name, identifier }: ApiView) => ({
  label: name,
  note: identifier,
  path: `/apis/${id}`,
});

async function search(context: AdminContext): Promise<void> {
  const text = (context.query.get('q') ?? '').trim().slice(0, 200);
  const query = { search: text, limit: LIMIT };
  const [found, applications, resources] =
    text === ''
      ? []
      : await Promise.all([
          context.call(users.list, { query }),
          context.call(clients.list, { query }),
          context.call(apis.list, { query }),
        ]);
  // For the palette (templates/assets/comfort.js).
  if (context.ctx.accepts('html', 'json') === 'json') {
    context.ctx.body = {
      items: [
        ...(found?.data.items ?? []).map(userRow),
        ...(applications?.data.items ?? []).map(clientRow),
        ...(resources?.data.items ?? []).map(apiRow),
      ],
    };
    return;
  }
  context.show('search', {
    title: 'Search',
    here: '',
    searchText: text,
    users: found?.data.items ?? [],
    userTotal: found?.data.total ?? 0,
    applications: applications?.data.items ?? [],
    applicationTotal: applications?.data.total ?? 0,
    apis: resources?.data.items ?? [],
    apiTotal: resources?.data.total ?? 0,
  });
}

export const searchPages: readonly Page[] = [get('/search', search)];
