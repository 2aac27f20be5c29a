// The list of APIs, the form for a new one, and the page that shows its introspection secret once.
import { isMembers } from '../../../json.ts';
import { apiRows } from '../../../model/apis/rows.ts';
import { textOf } from '../../pages/field-values.ts';
import { listPage } from '../../pages/list-page.ts';
import { newPages } from '../../pages/new-page.ts';
import { type AdminContext, get, idOf, type Page, type Values } from '../../pages/page.ts';
import { code, rowLink, small, when } from '../../pages/parts.ts';
import { apis } from './resource.ts';

export const here = 'apis';
export const apisCrumb = { label: 'APIs', href: '/apis' };

const list = listPage({
  path: '/apis',
  title: 'APIs',
  here,
  list: apis.list,
  rowsOf: async (_context, items) => items,
  columns: [
    {
      label: 'API',
      sort: 'name',
      cell: ({ id, name, identifier }) => [rowLink(`/apis/${id}`, name), small([code(identifier)], 'cut')],
    },
    { label: 'Scopes', look: 'number', cell: ({ scopes }) => [String(scopes.length)] },
    {
      label: 'Applications',
      look: 'wide',
      cell: ({ clients }) => [clients === 'all' ? 'All' : String(clients.length)],
    },
    { label: 'Tokens', look: 'wide', cell: ({ access_token_format: format }) => [formatLabel(format)] },
    { label: 'Created', sort: 'created_at', look: 'wide', cell: ({ created_at: at }) => [when(at)] },
  ],
  search: 'Search by name or identifier',
  noun: ['API', 'APIs'],
  add: { path: '/apis/new', label: 'Add API' },
  empty: {
    icon: 'apis',
    title: 'No APIs yet',
    text: 'An API gets access tokens of its own: made out to it alone, with the scopes that it declares.',
  },
});

const formatLabels: Readonly<Record<string, string>> = {
  'at+jwt': 'JWT (at+jwt)',
  jwt: 'JWT (typ JWT)',
  opaque: 'Opaque',
};
export const formatLabel = (format: string): string => formatLabels[format] ?? format;

const create = newPages({
  path: '/apis/new',
  title: 'Add API',
  here,
  crumbs: [apisCrumb],
  fields: [
    {
      name: 'name',
      label: 'Name',
      hint: apiRows.name.hint,
      attributes: 'required maxlength="200" autocomplete="off"',
    },
    {
      name: 'identifier',
      label: 'Identifier',
      hint: apiRows.identifier.hint,
      attributes:
        'required maxlength="500" autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url"',
    },
  ],
  button: 'Add API',
  back: '/apis',
  isSensitive: true,
  async create(context, body) {
    const { data } = await context.call(apis.create, { body });
    await goToSecret(context, data, 'is ready');
  },
});

/** @param verb shown after its name */
export async function goToSecret(context: AdminContext, api: Values, verb: string): Promise<void> {
  const isKept = await context.goOnce(`/apis/${textOf(api, 'id')}/secret`, { api, verb });
  if (!isKept) showSecret(context, api, verb);
}

async function showSecretOnce(context: AdminContext): Promise<void> {
  const { api, verb } = (await context.once()) ?? {};
  if (isMembers(api)) return showSecret(context, api, String(verb));
  context.go(`/apis/${idOf(context).id}`, 'secret-shown');
}

/** The only page that shows a secret. */
const showSecret = (context: AdminContext, api: Values, verb: string): void =>
  context.show('api-secret', {
    title: textOf(api, 'name'),
    isTitleName: true,
    here,
    crumbs: [apisCrumb],
    verb,
    api,
  });

export const apiListPages: readonly Page[] = [
  list,
  ...create,
  get('/apis/:id/secret', showSecretOnce, { needs: 'admin' }),
];
