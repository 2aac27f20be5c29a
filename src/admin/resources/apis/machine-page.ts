// Which scopes of an API an application gets for itself (client credentials).
import { isOn, versionOf } from '../../pages/field-values.ts';
import { formPages } from '../../pages/form-pages.ts';
import { type AdminContext, idOf, type Page, type Values } from '../../pages/page.ts';
import { applicationChoices } from '../clients/choice.ts';
import { createNames } from '../names.ts';
import { apisCrumb, here } from './list-page.ts';
import { apis } from './resource.ts';

const SCOPE = 'scope.';

async function showForm(context: AdminContext, refused: object, status: number): Promise<void> {
  const { data: api, version } = await context.call(apis.read, { params: idOf(context) });
  const choices = await applicationChoices(context);
  // Of an application that has a grant, the form changes that one.
  const client = context.query.get('client_id') ?? context.form.get('fixed') ?? '';
  const granted = Object.hasOwn(api.machine_grants, client) ? api.machine_grants[client] : undefined;
  const values: Values = Object.fromEntries((granted ?? []).map((name) => [SCOPE + name, 'on']));
  const back = `/apis/${api.id}`;
  const own = {
    title: granted === undefined ? 'Grant scopes to an application' : 'Scopes of an application',
    here,
    crumbs: [apisCrumb, { label: api.name, href: back, isName: true }],
    api,
    version,
    back,
    fixed:
      granted === undefined ? undefined : { id: client, ...(await createNames(context)('client', client)) },
    choices: { ...choices, items: choices.items.filter(({ isMachine }) => isMachine) },
    values,
    isStale: false,
  };
  context.show('api-machine', { ...own, ...refused }, status);
}

export const apiMachinePages: readonly Page[] = formPages({
  path: '/apis/:id/machines',
  isSensitive: true,
  show: (context, refused, status = 200) => showForm(context, refused ?? {}, status),
  async submit(context) {
    const { form } = context;
    const params = idOf(context);
    const { data: api } = await context.call(apis.read, { params });
    const client = (form.get('fixed') ?? form.get('client_id') ?? '').trim();
    const names = api.scopes.map(({ name }) => name).filter((name) => isOn(form, SCOPE + name));
    const { [client]: _, ...others } = api.machine_grants;
    await context.call(apis.change, {
      params,
      ifVersion: versionOf(form),
      body: { machine_grants: names.length > 0 ? { ...others, [client]: names } : others },
    });
    context.go(`/apis/${params.id}`, 'api-saved');
  },
});
