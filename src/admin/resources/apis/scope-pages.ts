// The scopes of an API: a form for each, and the question before one is removed. A name is not edited, because tokens for a
// scope that has another name are revoked: that is adding one and removing one.

import type { ApiView } from '../../../apis/index.ts';
import { AppError } from '../../../errors.ts';
import { phrase } from '../../../phrase.ts';
import { isOn, linesOf, versionOf } from '../../pages/field-values.ts';
import { formPages } from '../../pages/form-pages.ts';
import { type AdminContext, idOf, type Page, type Values } from '../../pages/page.ts';
import { groupChoices } from '../groups/choice.ts';
import { apisCrumb, here } from './list-page.ts';
import { apis } from './resource.ts';

type Scope = ApiView['scopes'][number];

const GROUP = 'group.';
const ROLE = 'role.';
const roles = [
  { name: 'admin', label: 'Administrators' },
  { name: 'auditor', label: 'Auditors' },
  { name: 'user', label: 'Users with no such role' },
] as const;

const readApi = (context: AdminContext) => context.call(apis.read, { params: idOf(context) });

/** @throws AppError request.not_found for a name that the API has not */
function scopeIn(api: ApiView, context: AdminContext): Scope {
  const found = api.scopes.find(({ name }) => name === context.params.scope);
  if (found === undefined) throw new AppError('request.not_found');
  return found;
}

const scopePath = (id: string, name: string): string => `/apis/${id}/scopes/${encodeURIComponent(name)}`;

const valuesOf = ({ roles = [], groups = [], ...scope }: Scope): Values => ({
  ...scope,
  roles,
  is_default: scope.is_default ? 'on' : '',
  who: roles.length + groups.length > 0 ? 'some' : 'all',
  groups: groups.join('\n'),
  ...Object.fromEntries(roles.map((name) => [ROLE + name, 'on'])),
  ...Object.fromEntries(groups.map((name) => [GROUP + name, 'on'])),
});

function scopeFrom({ form }: AdminContext, name: string): Values {
  const on = (prefix: string): string[] =>
    form
      .keys()
      .filter((key) => key.startsWith(prefix) && isOn(form, key))
      .map((key) => key.slice(prefix.length));
  const isForAll = form.get('who') !== 'some';
  return {
    name,
    description: (form.get('description') ?? '').trim(),
    is_default: isOn(form, 'is_default'),
    roles: isForAll ? [] : on(ROLE),
    groups: isForAll ? [] : [...new Set([...on(GROUP), ...linesOf(form.get('groups'))])],
  };
}

/** The API names entries of the list; the form has one of them. */
function problemsHere(errors: Readonly<Record<string, string>>): Record<string, string> {
  const { scopes: problem, ...others } = errors;
  if (problem === undefined) return others;
  const text = problem.replace(/^Entry \d+ /, '');
  const field = /description/.test(text) ? 'description' : /^Group/.test(text) ? 'groups' : 'name';
  return { ...others, [field]: text.charAt(0).toUpperCase() + text.slice(1) };
}

interface Shown {
  readonly values?: Values;
  readonly errors?: Readonly<Record<string, string>>;
  readonly isStale?: boolean;
}

const labels = { name: 'Name', description: 'Description', groups: 'Groups' };

async function showForm(context: AdminContext, isNew: boolean, refused: Shown, status: number) {
  const [{ data: api, version }, groups] = await Promise.all([readApi(context), groupChoices(context)]);
  const scope = isNew ? undefined : scopeIn(api, context);
  const crumbs = [apisCrumb, { label: api.name, href: `/apis/${api.id}`, isName: true }];
  const own = {
    title: scope === undefined ? 'Add a scope' : scope.name,
    isTitleName: scope !== undefined,
    here,
    crumbs,
    api,
    scope,
    version,
    labels,
    roles,
    groupChoices: groups,
    back: `/apis/${api.id}`,
    action: scope === undefined ? `/apis/${api.id}/scopes` : scopePath(api.id, scope.name),
    values: scope === undefined ? { who: 'all' } : valuesOf(scope),
    isStale: false,
  };
  context.show('api-scope', { ...own, ...refused, errors: problemsHere(refused.errors ?? {}) }, status);
}

const add = formPages({
  path: '/apis/:id/scopes',
  isSensitive: true,
  show: (
    context,
    refused = { values: { who: 'all' }, alert: '', errors: {}, isStale: false },
    status = 200,
  ) => showForm(context, true, refused, status),
  async submit(context) {
    const { data: api } = await readApi(context);
    const scope = scopeFrom(context, (context.form.get('name') ?? '').trim());
    await context.call(apis.change, {
      params: idOf(context),
      ifVersion: versionOf(context.form),
      body: { scopes: [...api.scopes, scope] },
    });
    context.go(`/apis/${api.id}`, 'scope-added');
  },
});

const edit = formPages({
  path: '/apis/:id/scopes/:scope',
  isSensitive: true,
  show: (context, refused, status = 200) => showForm(context, false, refused ?? {}, status),
  async submit(context) {
    const { data: api } = await readApi(context);
    const { name } = scopeIn(api, context);
    const changed = scopeFrom(context, name);
    await context.call(apis.change, {
      params: idOf(context),
      ifVersion: versionOf(context.form),
      body: { scopes: api.scopes.map((scope) => (scope.name === name ? changed : scope)) },
    });
    context.go(`/apis/${api.id}`, 'api-saved');
  },
});

function consequences(api: ApiView, { name }: Scope): string[] {
  const machines = Object.values(api.machine_grants).filter((names) => names.includes(name)).length;
  return [
    'No application gets it any more, and it disappears from what users allowed.',
    'Tokens for it are revoked immediately. APIs that check JWTs without introspection accept them until they expire.',
    ...(machines > 0
      ? [
          machines === 1
            ? 'One application has it for itself and loses it.'
            : `${machines} applications have it for themselves and lose it.`,
        ]
      : []),
    'A scope added later under the same name is another: users are asked again.',
  ];
}

const remove = formPages({
  path: '/apis/:id/scopes/:scope/remove',
  isSensitive: true,
  async show(context, refused, status = 200) {
    const { data: api } = await readApi(context);
    const scope = scopeIn(api, context);
    const back = `/apis/${api.id}`;
    const heading = phrase`Remove the scope ${scope.name}?`;
    const ask = { heading, consequences: consequences(api, scope), button: 'Remove scope', isDanger: true };
    const crumbs = [apisCrumb, { label: api.name, href: back, isName: true }];
    const action = `${scopePath(api.id, scope.name)}/remove`;
    const own = { title: heading, here, crumbs, ask, back, action, typed: '', values: {} };
    context.show('confirm', { ...own, ...refused }, status);
  },
  async submit(context) {
    const { data: api, version } = await readApi(context);
    const { name } = scopeIn(api, context);
    const scopes = api.scopes.filter((scope) => scope.name !== name);
    await context.call(apis.change, { params: idOf(context), ifVersion: version, body: { scopes } });
    context.go(`/apis/${api.id}`, 'scope-removed');
  },
});

export const apiScopePages: readonly Page[] = [...add, ...edit, ...remove];
