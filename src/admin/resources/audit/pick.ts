// Who or what the audit log is asked about, by name: one of several is chosen on the page. A suggestion (templates/assets/
// audit.js) is "Grace Hopper (grace@example.com)"; without scripts a part of the name is enough.
import type { User } from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import { type PageText, phrase } from '../../../phrase.ts';
import { personName } from '../../pages/format.ts';
import type { AdminContext } from '../../pages/page.ts';
import { applicationName } from '../clients/page.ts';
import { clients } from '../clients/resource.ts';
import { users } from '../users/resource.ts';

type Kind = 'user' | 'application';

interface Field {
  /** Of the form. */
  readonly name: string;
  /** Filter of the route. */
  readonly filter: string;
  readonly label: string;
  /** The filter in words. */
  readonly inWords: (name: string) => PageText;
  readonly kinds: readonly Kind[];
}

export const pickFields: readonly Field[] = [
  {
    name: 'by',
    filter: 'actor_id',
    label: 'By',
    inWords: (name) => phrase`By ${name}`,
    kinds: ['user', 'application'],
  },
  {
    name: 'about',
    filter: 'target_id',
    label: 'About',
    inWords: (name) => phrase`About ${name}`,
    kinds: ['user', 'application'],
  },
  {
    name: 'application',
    filter: 'client_id',
    label: 'Application',
    inWords: (name) => phrase`Application ${name}`,
    kinds: ['application'],
  },
];

interface Candidate {
  readonly id: string;
  readonly label: string;
  /** What tells people of one name apart; an application has none. */
  readonly note?: string;
}

export interface Pick {
  readonly label: string;
  readonly typed: string;
  readonly items: readonly (Candidate & { readonly href: string })[];
}

const MOST = '12';

const ofUser = (user: User): Candidate => ({
  id: user.id,
  label: personName(user),
  note: user.email || user.username,
});

async function orNone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined;
    throw error;
  }
}

/** The one whose username, address, client ID or ID this is. */
async function exactly(
  context: AdminContext,
  key: string,
  kinds: readonly Kind[],
): Promise<Candidate | undefined> {
  if (kinds.includes('user')) {
    for (const name of ['username', 'email']) {
      const found = await orNone(context.call(users.list, { query: { [name]: key, limit: '1' } }));
      const [user] = found?.data.items ?? [];
      if (user !== undefined) return ofUser(user);
    }
    const byId = await orNone(context.call(users.read, { params: { id: key } }));
    if (byId !== undefined) return ofUser(byId.data);
  }
  if (!kinds.includes('application')) return undefined;
  const client = await orNone(context.call(clients.read, { params: { client_id: key } }));
  return client && { id: key, label: applicationName(client.data) };
}

export async function candidates(
  context: AdminContext,
  typed: string,
  kinds: readonly Kind[],
): Promise<Candidate[]> {
  const [, suggested] = /\(([^()]+)\)\s*$/.exec(typed) ?? [];
  const one = await exactly(context, suggested ?? typed, kinds);
  if (one !== undefined) return [one];
  const query = { search: typed, limit: MOST };
  const [people, applications] = await Promise.all([
    kinds.includes('user') ? context.call(users.list, { query }) : undefined,
    kinds.includes('application') ? context.call(clients.list, { query }) : undefined,
  ]);
  return [
    ...(people?.data.items ?? []).map(ofUser),
    ...(applications?.data.items ?? []).map((client) => ({
      id: client.client_id,
      label: applicationName(client),
    })),
  ];
}

/**
 * @returns the query with ids in place of names, and the names that several fit or none
 */
export async function resolvePicks(
  context: AdminContext,
): Promise<{ readonly query: URLSearchParams; readonly picks: readonly Pick[] }> {
  const query = new URLSearchParams(context.query);
  for (const { name } of pickFields) query.delete(name);
  const open: (Field & { readonly typed: string; readonly found: Candidate[] })[] = [];
  for (const field of pickFields) {
    const typed = (context.query.get(field.name) ?? '').trim().slice(0, 200);
    if (typed === '') continue;
    const found = await candidates(context, typed, field.kinds);
    const [only, ...others] = found;
    if (only !== undefined && others.length === 0) query.set(field.filter, only.id);
    else open.push({ ...field, typed, found });
  }
  for (const name of ['cursor', 'offset']) if (open.length > 0) query.delete(name);
  const picks = open.map(({ label, typed, found, filter }) => ({
    label,
    typed,
    items: found.map((item) => {
      const wanted = new URLSearchParams(query);
      wanted.set(filter, item.id);
      return { ...item, href: `/audit?${wanted}` };
    }),
  }));
  return { query, picks };
}
