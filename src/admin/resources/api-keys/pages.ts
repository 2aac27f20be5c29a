// The pages of API keys. A key is shown once, in the answer that created it.

import type { Static } from 'typebox';
import { actPages, type Kind } from '../../pages/acts.ts';
import { isMembers, numberOrText, refusalOf, typedIn } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { createNames, type NameOf } from '../names.ts';
import { type apiKeySchema, apiKeys } from './resource.ts';

const here = 'keys';
const crumbs = [{ label: 'Keys', href: '/keys' }];
const crumb = { label: 'API keys', href: '/api-keys' };
const DAY_SECONDS = 86_400;
/** So long before its end somebody should think of the next one. */
const SOON_MS = 14 * DAY_SECONDS * 1000;

type ApiKeyView = Static<typeof apiKeySchema>;

const hasAll = ({ scopes }: Pick<ApiKeyView, 'scopes'>): boolean => scopes.includes('admin');

/** A key as the pages show it. */
async function rowOf(context: AdminContext, nameOf: NameOf, key: ApiKeyView) {
  const [kind = '', id = ''] = key.created_by.split(/:(.*)/s);
  return {
    ...key,
    hasAll: hasAll(key),
    isSoonOver: Date.parse(key.expires_at) - context.now < SOON_MS,
    by: await nameOf(kind, id),
    // None: the installation.
    ...(key.owner_id !== null && { owner: await nameOf(key.owner_kind, key.owner_id) }),
  };
}

async function list(context: AdminContext): Promise<void> {
  const { query, ctx } = context;
  const { data } = await context.call(apiKeys.list, { query });
  const links = listLinks({ path: ctx.path, query, page: data, defaultSort: apiKeys.list.sort });
  const nameOf = createNames(context);
  const rows = await Promise.all(data.items.map((key) => rowOf(context, nameOf, key)));
  context.show('api-keys', { title: 'API keys', here, crumbs, list: links, rows });
}

async function showKey(context: AdminContext, model: object = {}, status = 200): Promise<void> {
  const { data } = await context.call(apiKeys.read, { params: { id: context.params.id ?? '' } });
  const key = await rowOf(context, createNames(context), data);
  const own = { title: data.name, here, crumbs: [...crumbs, crumb], key };
  context.show('api-key', { ...own, ...model }, status);
}

const showNew = (context: AdminContext, model: object = {}, status = 200): void => {
  const own = { title: 'Make an API key', here, crumbs: [...crumbs, crumb], values: {} };
  context.show('api-key-new', { ...own, ...model }, status);
};

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const days = numberOrText(form.get('days') ?? '');
  try {
    const { data } = await context.call(apiKeys.create, {
      body: {
        name: (form.get('name') ?? '').trim(),
        scopes: [form.get('access') === 'all' ? 'admin' : 'admin:read'],
        owner: form.get('owner') === 'installation' ? 'installation' : 'self',
        expires_in_seconds: typeof days === 'number' ? days * DAY_SECONDS : days,
      },
    });
    const made = { ...data, hasAll: hasAll(data) };
    if (!(await context.goOnce(`/api-keys/${data.id}/key`, { made }))) showCreated(context, made);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    const { expires_in_seconds: span, ...others } = errors;
    const told =
      span === undefined ? others : { ...others, days: 'Must be a whole number of days from 1 to 366.' };
    showNew(context, { values: typedIn(form), alert, errors: told }, status);
  }
}

const showCreated = (context: AdminContext, made: Values): void =>
  context.show('api-key-made', { title: String(made.name), here, crumbs: [...crumbs, crumb], made });

async function showCreatedOnce(context: AdminContext): Promise<void> {
  const { made } = (await context.once()) ?? {};
  if (isMembers(made)) return showCreated(context, made);
  context.go(`/api-keys/${context.params.id ?? ''}`, 'api-key-shown');
}

const kind: Kind<ApiKeyView> = {
  here,
  crumbs: [crumb],
  path: crumb.href,
  read: async (context, id) => (await context.call(apiKeys.read, { params: { id } })).data,
  nameOf: ({ name }) => name,
  showItem: showKey,
};

export const apiKeyPages: readonly Page[] = [
  { method: 'GET', path: '/api-keys', handle: list },
  // As with everything that opens something: on a recent sign-in.
  {
    method: 'GET',
    path: '/api-keys/new',
    isSensitive: true,
    needs: 'admin',
    handle: async (context) => showNew(context),
  },
  { method: 'POST', path: '/api-keys/new', isSensitive: true, handle: create },
  { method: 'GET', path: '/api-keys/:id', handle: (context) => showKey(context) },
  { method: 'GET', path: '/api-keys/:id/key', needs: 'admin', handle: showCreatedOnce },
  ...actPages(kind, [
    {
      name: 'revoke',
      run: (context, id) => context.call(apiKeys.remove, { params: { id } }),
      notice: 'api-key-revoked',
      isEnd: true,
      ask: (key) => ({
        heading: `Revoke the key ${key.name}?`,
        consequences: [
          'Every program that uses it is refused from the next request on.',
          'It cannot be brought back; a new one can be made.',
          'The audit log keeps what was done with it.',
        ],
        button: 'Revoke key',
        isDanger: true,
      }),
    },
  ]),
];
