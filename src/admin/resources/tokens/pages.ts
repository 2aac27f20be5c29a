// The pages of issued tokens: what was issued to which application for whom, never the value, and revocation.

import { type PageText, Phrase, phrase } from '../../../phrase.ts';
import type { ListPage } from '../../api/list.ts';
import { refusalOf } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { apis } from '../apis/resource.ts';
import { applicationName } from '../clients/page.ts';
import { clients } from '../clients/resource.ts';
import { createNames, type NameOf } from '../names.ts';
import { users } from '../users/resource.ts';
import { tokens } from './resource.ts';
import type { Token } from './schema.ts';

/** The filters in the list's address; the other parameters of the API are the position. */
const filters = ['kind', 'user_id', 'client_id', 'grant_id', 'resource'] as const;

/** With more applications a selection is not usable. */
const MAX_CHOICES = 200;

const kinds = {
  refresh_token: 'Refresh token',
  access_token: 'Access token',
  client_credentials: 'Client credentials',
} as const;

const chips = [
  { label: 'Refresh tokens', set: { kind: 'refresh_token' } },
  { label: 'Access tokens', set: { kind: 'access_token' } },
  { label: 'Client credentials', set: { kind: 'client_credentials' } },
];

/** The filters of the address by name, not by id. */
async function filterWords(asked: URLSearchParams, nameOf: NameOf) {
  const labelOf = async (kind: string, id: string): Promise<string> => (await nameOf(kind, id)).label;
  const words = new Map<string, PageText>();
  for (const [name, value] of asked) {
    if (name === 'user_id') words.set(name, phrase`User: ${await labelOf('user', value)}`);
    if (name === 'client_id') words.set(name, phrase`Application: ${await labelOf('client', value)}`);
  }
  return (name: string): PageText | undefined => words.get(name);
}

/** For screen readers, beside "Revoke". */
function aboutToken(kind: string, user: string | undefined, client: string | undefined): PageText {
  const what = new Phrase([kind]);
  if (user !== undefined && client !== undefined) return phrase`${what} of ${user} at ${client}`;
  if (user !== undefined) return phrase`${what} of ${user}`;
  return client === undefined ? what : phrase`${what} at ${client}`;
}

const rowsOf = (items: readonly Token[], nameOf: NameOf) =>
  Promise.all(
    items.map(async (token) => {
      const { user_id: user, client_id: client } = token;
      const [owner, application] = [
        user === null ? undefined : await nameOf('user', user),
        client === null ? undefined : await nameOf('client', client),
      ];
      return {
        ...token,
        kindLabel: kinds[token.kind],
        user: owner,
        client: application,
        about: aboutToken(kinds[token.kind], owner?.label, application?.label),
      };
    }),
  );

interface Choice {
  readonly id: string;
  readonly name: string;
}

/** The filter may name what is deleted. */
const withChosen = (choices: readonly Choice[], chosen: string): readonly Choice[] =>
  chosen === '' || choices.some(({ id }) => id === chosen)
    ? choices
    : [...choices, { id: chosen, name: chosen }];

/** The applications to select from; undefined when there are too many. */
async function applicationsToChoose(context: AdminContext, chosen: string) {
  const query = { limit: String(MAX_CHOICES), sort: 'client_name', order: 'asc' };
  const { data } = await context.call(clients.list, { query });
  if (data.total > MAX_CHOICES) return undefined;
  const choices = data.items.map((client) => ({ id: client.client_id, name: applicationName(client) }));
  return withChosen(choices, chosen);
}

/** The same of APIs: few, and none on most installations. */
async function apisToChoose(context: AdminContext, chosen: string) {
  const { data } = await context.call(apis.list, { query: { limit: String(MAX_CHOICES), sort: 'name' } });
  const choices = data.items.map(({ identifier, name }) => ({ id: identifier, name }));
  return withChosen(choices, chosen);
}

/** The form takes a username or e-mail address, the API an id. @returns undefined when no user matches */
async function userIdOf(context: AdminContext, name: string): Promise<string | undefined> {
  const { data } = await context.call(users.list, {
    query: { search: name.slice(0, 200), limit: '50' },
  });
  const folded = name.toLowerCase();
  return data.items.find(({ username, email, id }) =>
    [username, email, id].some((value) => value?.toLowerCase() === folded),
  )?.id;
}

const addressOf = (query: URLSearchParams): string => {
  const text = query.toString();
  return text === '' ? '/tokens' : `/tokens?${text}`;
};

async function list(context: AdminContext): Promise<void> {
  const asked = new URLSearchParams(context.query);
  const typed = (asked.get('user') ?? '').trim();
  asked.delete('user');
  let unknownUser = '';
  if (typed !== '') {
    const id = await userIdOf(context, typed);
    if (id !== undefined) {
      asked.set('user_id', id);
      return context.go(addressOf(asked));
    }
    unknownUser = typed;
  }
  const nameOf = createNames(context);
  const [userId, clientId] = [asked.get('user_id') ?? '', asked.get('client_id') ?? ''];
  const model = {
    title: 'Tokens',
    here: 'sessions',
    user: userId === '' ? undefined : await nameOf('user', userId),
    applications: await applicationsToChoose(context, clientId),
    apis: await apisToChoose(context, asked.get('resource') ?? ''),
    kept: filters.flatMap((name) => {
      const value = asked.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
  };
  const wordsOf = await filterWords(asked, nameOf);
  const show = async (data: ListPage<Token>, shown: object): Promise<void> => {
    const links = listLinks(context, tokens.list, data, { query: asked, chips, wordsOf });
    context.show('tokens', { ...model, list: links, rows: await rowsOf(data.items, nameOf), ...shown });
  };
  const nothing = { items: [], total: 0, offset: 0, limit: 50, next: null };
  if (unknownUser !== '') {
    const errors = { user: 'User not found.' };
    return show(nothing, { errors, typedUser: unknownUser, hint: '' });
  }
  try {
    const { data } = await context.call(tokens.list, { query: asked });
    await show(data, { typedUser: '', hint: '' });
  } catch (error) {
    // Access tokens can be listed by owner only: the page asks for a choice instead of showing an error.
    const { errors } = refusalOf(error);
    const names = Object.keys(errors);
    if (names.length !== 1 || !['user_id', 'client_id'].includes(names[0] ?? '')) throw error;
    const isUser = names[0] === 'user_id';
    await show(nothing, { errors: {}, typedUser: '', hint: isUser ? 'user' : 'client' });
  }
}

async function revoke(context: AdminContext): Promise<void> {
  const { form, params } = context;
  await context.call(tokens.remove, { params: { id: params.id ?? '' } });
  const query = new URLSearchParams();
  for (const name of filters) {
    const value = form.get(name) ?? '';
    if (value !== '') query.set(name, value);
  }
  context.go(addressOf(query), 'token-revoked');
}

export const tokenPages: readonly Page[] = [get('/tokens', list), post('/tokens/:id/revoke', revoke)];
