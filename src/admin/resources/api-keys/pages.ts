// The pages of API keys. A key is shown once, in the answer that created it.

import type { Static } from 'typebox';
import { isMembers } from '../../../json.ts';
import { phrase } from '../../../phrase.ts';
import { actPages } from '../../pages/acts.ts';
import { numberOrText } from '../../pages/field-values.ts';
import { shows } from '../../pages/form-pages.ts';
import { listPage } from '../../pages/list-page.ts';
import { newPages } from '../../pages/new-page.ts';
import { type AdminContext, get, idOf, type Page, type Values } from '../../pages/page.ts';
import { badge, code, link, named, rowLink, small, stamp, when } from '../../pages/parts.ts';
import { createNames, type NameOf } from '../names.ts';
import { type apiKeySchema, apiKeys } from './resource.ts';

const here = 'keys';
const keysCrumb = { label: 'Keys', href: '/keys' };
const crumbs = [keysCrumb, { label: 'API keys', href: '/api-keys' }];
const DAY_SECONDS = 86_400;
/** A key that expires within this time should be replaced. */
const SOON_MS = 14 * DAY_SECONDS * 1000;

type ApiKeyView = Static<typeof apiKeySchema>;

const hasAll = ({ scopes }: Pick<ApiKeyView, 'scopes'>): boolean => scopes.includes('admin');

/** A key as shown on the pages. */
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
    { label: 'Owner', look: 'wide', cell: ({ owner }) => [owner] },
    { label: 'Created', sort: 'created_at', look: 'wide', cell: (key) => [when(key.created_at)] },
    { label: 'Last used', sort: 'last_used_at', look: 'wide', cell: (key) => [when(key.last_used_at)] },
    { label: 'Expires', cell: (key) => [when(key.expires_at)] },
  ],
  search: 'Search by name',
  noun: ['key', 'keys'],
  add: { path: '/api-keys/new', label: 'Create key' },
  tabs: {
    label: 'Keys',
    items: [
      ['Signing keys', '/keys'],
      ['API keys', '/api-keys'],
    ],
  },
  lead: ({ apiUrl }) => [
    'Programs use API keys to call the admin API at ',
    code(apiUrl),
    ': see the ',
    link('/api-reference', 'API reference'),
    '.',
  ],
  footnote: [
    'Revoked and expired keys are not listed. The ',
    link('/audit', 'audit log'),
    ' keeps what was done with them.',
  ],
  empty: {
    icon: 'key',
    title: 'No API keys',
    text: 'An API key gives a program access to the admin API without a password.',
  },
});

const showKey = shows('detail', async (context) => {
  const { data } = await context.call(apiKeys.read, { params: idOf(context) });
  const nameOf = createNames(context);
  const { state, access, owner, ...key } = await rowOf(context, nameOf, data);
  const [kind = '', creator = ''] = key.created_by.split(/:(.*)/s);
  const isOwned = key.owner_id !== null;
  const rule = isOwned ? 'It can never do more than its owner.' : 'It has no owner.';
  const scope = hasAll(key)
    ? 'Everything an administrator can do'
    : 'Reads everything except e-mails, changes nothing';
  const facts = [
    ['Access', [scope]],
    ['Owner', [owner, ' ', small([rule])]],
    ['Created by', [named(await nameOf(kind, creator))]],
    ['Created', [when(key.created_at)]],
    ['Last used', [when(key.last_used_at)]],
    ['Expires', [when(key.expires_at), ' ', small([stamp(key.expires_at)])]],
    ['Activity', [link(`/audit?actor_id=${key.id}`, 'Events of this key')]],
  ];
  const own = {
    title: key.name,
    isTitleName: true,
    here,
    crumbs,
    badges: [state, access],
    facts,
    hint: 'The key was shown once, when it was created. If you lost it, create a new key and revoke this one.',
    danger: { path: `/api-keys/${key.id}/revoke`, label: 'Revoke key' },
  };
  return own;
});

const showCreated = (context: AdminContext, created: Values): void =>
  context.show('api-key-created', { title: String(created.name), isTitleName: true, here, crumbs, created });

async function showCreatedOnce(context: AdminContext): Promise<void> {
  const { created } = (await context.once()) ?? {};
  if (isMembers(created)) return showCreated(context, created);
  context.go(`/api-keys/${idOf(context).id}`, 'api-key-shown');
}

const create = newPages({
  path: '/api-keys/new',
  title: 'Create API key',
  here,
  crumbs,
  fields: [
    {
      name: 'name',
      label: 'Name',
      hint: 'For example, the program and the machine that use it.',
      attributes: 'required maxlength="200" autocomplete="off"',
    },
    {
      name: 'access',
      label: 'Access',
      member: 'scopes',
      toMember: (access) => [access === 'all' ? 'admin' : 'admin:read'],
      choices: [
        { value: 'read', label: 'Read only', about: 'Reads everything except e-mails, changes nothing.' },
        { value: 'all', label: 'Admin', about: 'Can do everything that an administrator can.' },
      ],
    },
    {
      name: 'owner',
      label: 'Owner',
      toMember: (owner) => (owner === 'installation' ? owner : 'self'),
      choices: [
        {
          value: 'self',
          label: 'You',
          about:
            'It can never do more than you can, and stops working when you lose your role or your account.',
        },
        {
          value: 'installation',
          label: 'The installation',
          about: 'It has no owner and works until it expires or is revoked.',
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
        heading: phrase`Revoke the key ${name}?`,
        consequences: [
          'Every program that uses it loses access immediately.',
          'It cannot be restored; a new one can be created.',
          'Its events stay in the audit log.',
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
  get('/api-keys/:id', (context) => showKey(context)),
  get('/api-keys/:id/key', showCreatedOnce, { needs: 'admin' }),
  ...acts,
];
