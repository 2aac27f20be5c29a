// Owns the pages of API keys: bearers for programs that use the admin API. A key is shown once, in the answer that made it.
import { actPages, type Kind } from '../../pages/acts.ts';
import { isMembers, itemsOf, numberOrText, refusalOf, textOf, typedIn } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import { createNames, type NameOf } from '../../pages/names.ts';
import type { Page, Values, Visit } from '../../pages/page.ts';

const here = 'keys';
const crumbs = [{ label: 'Keys', href: '/keys' }];
const crumb = { label: 'API keys', href: '/api-keys' };
const DAY_SECONDS = 86_400;
/** So long before its end somebody should think of the next one. */
const SOON_MS = 14 * DAY_SECONDS * 1000;

const hasAll = (key: Values): boolean => Array.isArray(key.scopes) && key.scopes.includes('admin');

/** A key as the pages show it. */
async function rowOf(visit: Visit, nameOf: NameOf, key: Values) {
  const [kind = '', id = ''] = textOf(key, 'created_by').split(/:(.*)/s);
  const isOwned = typeof key.owner_id === 'string';
  return {
    ...key,
    hasAll: hasAll(key),
    isSoonOver: Date.parse(textOf(key, 'expires_at')) - visit.now < SOON_MS,
    by: await nameOf(kind, id),
    // None: the installation.
    ...(isOwned && { owner: await nameOf(textOf(key, 'owner_kind'), textOf(key, 'owner_id')) }),
  };
}

async function list(visit: Visit): Promise<void> {
  const { query, ctx } = visit;
  const { data } = await visit.call('GET /api-keys', { query });
  const links = listLinks({ path: ctx.path, query, page: data, defaultSort: 'created_at' });
  const nameOf = createNames(visit);
  const rows = await Promise.all(itemsOf(data).map((key) => rowOf(visit, nameOf, key)));
  visit.show('api-keys', { title: 'API keys', here, crumbs, list: links, rows });
}

async function showKey(visit: Visit, model: object = {}, status = 200): Promise<void> {
  const { data } = await visit.call('GET /api-keys/{id}', { params: { id: visit.params.id ?? '' } });
  const key = await rowOf(visit, createNames(visit), data);
  const own = { title: textOf(data, 'name'), here, crumbs: [...crumbs, crumb], key };
  visit.show('api-key', { ...own, ...model }, status);
}

const showNew = (visit: Visit, model: object = {}, status = 200): void => {
  const own = { title: 'Make an API key', here, crumbs: [...crumbs, crumb], values: {} };
  visit.show('api-key-new', { ...own, ...model }, status);
};

async function create(visit: Visit): Promise<void> {
  const { form } = visit;
  const days = numberOrText(form.get('days') ?? '');
  try {
    const { data } = await visit.call('POST /api-keys', {
      body: {
        name: (form.get('name') ?? '').trim(),
        scopes: [form.get('access') === 'all' ? 'admin' : 'admin:read'],
        owner: form.get('owner') === 'installation' ? 'installation' : 'self',
        expires_in_seconds: typeof days === 'number' ? days * DAY_SECONDS : days,
      },
    });
    if (!(await visit.goOnce(`/api-keys/${textOf(data, 'id')}/key`, { key: data }))) showMade(visit, data);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    const { expires_in_seconds: span, ...others } = errors;
    const told =
      span === undefined ? others : { ...others, days: 'Must be a whole number of days from 1 to 366.' };
    showNew(visit, { values: typedIn(form), alert, errors: told }, status);
  }
}

function showMade(visit: Visit, key: Values): void {
  const made = { ...key, hasAll: hasAll(key) };
  visit.show('api-key-made', { title: textOf(key, 'name'), here, crumbs: [...crumbs, crumb], made });
}

async function showMadeOnce(visit: Visit): Promise<void> {
  const { key } = (await visit.once()) ?? {};
  if (isMembers(key)) return showMade(visit, key);
  visit.go(`/api-keys/${visit.params.id ?? ''}`, 'api-key-shown');
}

const kind: Kind = {
  here,
  label: crumb.label,
  path: crumb.href,
  param: 'id',
  read: 'GET /api-keys/{id}',
  nameOf: (key) => textOf(key, 'name'),
  showThing: showKey,
};

export const apiKeyPages: readonly Page[] = [
  { method: 'GET', path: '/api-keys', handle: list },
  // As with everything that opens something: on a recent sign-in.
  {
    method: 'GET',
    path: '/api-keys/new',
    isSensitive: true,
    needs: 'admin',
    handle: async (visit) => showNew(visit),
  },
  { method: 'POST', path: '/api-keys/new', isSensitive: true, handle: create },
  { method: 'GET', path: '/api-keys/:id', handle: (visit) => showKey(visit) },
  { method: 'GET', path: '/api-keys/:id/key', needs: 'admin', handle: showMadeOnce },
  ...actPages(kind, [
    {
      name: 'revoke',
      route: 'DELETE /api-keys/{id}',
      notice: 'api-key-revoked',
      isEnd: true,
      ask: (key) => ({
        heading: `Revoke the key ${textOf(key, 'name')}?`,
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
