// The pages of API keys. A key is shown once, in the answer that created it.
import type { Static } from 'typebox';
import { actPages } from '../../pages/acts.ts';
import { isMembers, numberOrText } from '../../pages/field-values.ts';
import { listPage } from '../../pages/list-page.ts';
import { newPages } from '../../pages/new-page.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { badge, code, link, named, rowLink, small, stamp, when } from '../../pages/parts.ts';
import { createNames, type NameOf } from '../names.ts';
import { type apiKeySchema, apiKeys } from './resource.ts';

const here = 'keys';
const keysCrumb = { label: 'Keys', href: '/keys' };
const crumbs = [keysCrumb, { label: 'API keys', href: '/api-keys' }];
const DAY_SECONDS = 86_400;
/** So long before it expires somebody should think of the next one. */
const SOON_MS = 14 * DAY_SECONDS * 1000;

type ApiKeyView = Static<typeof apiKeySchema>;

const hasAll = ({ scopes }: Pick<ApiKeyView, 'scopes'>): boolean => scopes.includes('admin');

/** A key as the pages show it. */
async function rowOf(context: AdminContext, nameOf: NameOf, key: ApiKeyView) {
  const isSoonOver = Date.parse(key.expires_at) - context.now < SOON_MS;
  return {
    ...key,
    state: isSoonOver ? badge('Expires soon', 'warn') : badge('Active', 'good'),
    access: hasAll(key) ? badge('Admin', 'strong') : badge('Read only'),
    owner: key.owner_id === null ? 'The installation' : named(await nameOf(key.owner_kind, key.owner_id)),
  };
}

const list = listPage({
  path: '/api-keys',
  title: 'API keys',
  here,
  crumbs: [keysCrumb],
  list: apiKeys.list,
  async rowsOf(context, keys) {
    const nameOf = createNames(context);
    return Promise.all(keys.map((key) => rowOf(context, nameOf, key)));
  },
  columns: [
    { label: 'Name', sort: 'name', cell: ({ id, name }) => [rowLink(`/api-keys/${id}`, name)] },
    { label: 'Access', cell: ({ access }) => [access] },
    { label: 'State', look: 'wide', cell: ({ state }) => [state] },
    { label: 'Belongs to', look: 'wide', cell: ({ owner }) => [owner] },
    { label: 'Created', sort: 'created_at', look: 'wide', cell: (key) => [when(key.created_at)] },
    { label: 'Last used', sort: 'last_used_at', look: 'wide', cell: (key) => [when(key.last_used_at)] },
    { label: 'Expires', cell: (key) => [when(key.expires_at)] },
  ],
  search: 'Search by name',
  noun: 'keys',
  add: { path: '/api-keys/new', label: 'Create key' },
  tabs: {
    label: 'Keys',
    items: [
      ['Signing keys', '/keys'],
      ['API keys', '/api-keys'],
    ],
  },
  lead: ({ apiUrl }) => [
    'Programs use these to speak to the admin API at ',
    code(apiUrl),
    ': see the ',
    link('/api-reference', 'API reference'),
    '.',
  ],
  footnote: [
    'Keys that were revoked or have expired are not listed. The ',
    link('/audit', 'audit log'),
    ' keeps what was done with them.',
  ],
  empty: {
    icon: 'key',
    title: 'No API keys',
    text: 'A key lets a program read or change what administrators can, without anybody’s password.',
  },
});

async function showKey(context: AdminContext, model: object = {}, status = 200): Promise<void> {
  const { data } = await context.call(apiKeys.read, { params: { id: context.params.id ?? '' } });
  const nameOf = createNames(context);
  const { state, access, owner, ...key } = await rowOf(context, nameOf, data);
  const [kind = '', creator = ''] = key.created_by.split(/:(.*)/s);
  const isOwned = key.owner_id !== null;
  const rule = isOwned ? 'It can do no more than its owner can now.' : 'It has no owner.';
  const scope = hasAll(key)
    ? 'Everything an administrator can do'
    : 'Reads everything but mails, changes nothing';
  const facts = [
    ['Access', [scope]],
    ['Belongs to', [owner, ' ', small([rule])]],
    ['Created by', [named(await nameOf(kind, creator))]],
    ['Created', [when(key.created_at)]],
    ['Last used', [when(key.last_used_at)]],
    ['Expires', [when(key.expires_at), ' ', small([stamp(key.expires_at)])]],
    ['Activity', [link(`/audit?actor_id=${key.id}`, 'What was done with it')]],
  ];
  const own = {
    title: key.name,
    here,
    crumbs,
    badges: [state, access],
    facts,
    hint: 'The key itself was shown once, when it was created. If it is lost, create another one and revoke this.',
    danger: { path: `/api-keys/${key.id}/revoke`, label: 'Revoke key' },
  };
  context.show('detail', { ...own, ...model }, status);
}

const showCreated = (context: AdminContext, created: Values): void =>
  context.show('api-key-created', { title: String(created.name), here, crumbs, created });

async function showCreatedOnce(context: AdminContext): Promise<void> {
  const { created } = (await context.once()) ?? {};
  if (isMembers(created)) return showCreated(context, created);
  context.go(`/api-keys/${context.params.id ?? ''}`, 'api-key-shown');
}

const create = newPages({
  path: '/api-keys/new',
  title: 'Create an API key',
  here,
  crumbs,
  fields: [
    {
      name: 'name',
      label: 'Name',
      hint: 'For you to know it by: which program, on which machine.',
      attributes: 'required maxlength="200" autocomplete="off"',
    },
    {
      name: 'access',
      label: 'Access',
      member: 'scopes',
      toMember: (access) => [access === 'all' ? 'admin' : 'admin:read'],
      choices: [
        { value: 'read', label: 'Read only', about: 'Reads everything but mails, changes nothing.' },
        { value: 'all', label: 'Admin', about: 'Can do all that an administrator can.' },
      ],
    },
    {
      name: 'owner',
      label: 'Belongs to',
      toMember: (owner) => (owner === 'installation' ? owner : 'self'),
      choices: [
        {
          value: 'self',
          label: 'You',
          about: 'It can do no more than you can: with your role or your account, it ends.',
        },
        {
          value: 'installation',
          label: 'The installation',
          about: 'It has no owner and stays when people leave, until it expires or is revoked.',
        },
      ],
    },
    {
      name: 'days',
      label: 'Expires in (days)',
      hint: '1 to 366. Then it is refused, and a new one has to be created.',
      type: 'number',
      attributes: 'required min="1" max="366" inputmode="numeric"',
      value: '90',
      member: 'expires_in_seconds',
      toMember(text) {
        const days = numberOrText(text);
        return typeof days === 'number' ? days * DAY_SECONDS : days;
      },
      problem: 'Must be a whole number of days from 1 to 366.',
    },
  ],
  button: 'Create key',
  back: '/api-keys',
  isSensitive: true,
  async create(context, body) {
    const { data } = await context.call(apiKeys.create, { body });
    const created = { ...data, hasAll: hasAll(data) };
    if (!(await context.goOnce(`/api-keys/${data.id}/key`, { created }))) showCreated(context, created);
  },
});

const acts = actPages<ApiKeyView>(
  {
    here,
    crumbs,
    path: '/api-keys',
    read: async (context, id) => (await context.call(apiKeys.read, { params: { id } })).data,
    nameOf: ({ name }) => name,
    showItem: showKey,
  },
  [
    {
      name: 'revoke',
      run: (context, id) => context.call(apiKeys.remove, { params: { id } }),
      notice: 'api-key-revoked',
      isEnd: true,
      ask: ({ name }) => ({
        heading: `Revoke the key ${name}?`,
        consequences: [
          'Every program that uses it is refused from the next request on.',
          'It cannot be restored; a new one can be created.',
          'The audit log keeps what was done with it.',
        ],
        button: 'Revoke key',
        isDanger: true,
      }),
    },
  ],
);

export const apiKeyPages: readonly Page[] = [
  list,
  ...create,
  { method: 'GET', path: '/api-keys/:id', handle: (context) => showKey(context) },
  { method: 'GET', path: '/api-keys/:id/key', needs: 'admin', handle: showCreatedOnce },
  ...acts,
];
