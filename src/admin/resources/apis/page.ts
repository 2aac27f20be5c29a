// The page of one API: what it is configured with, its scopes, who gets them, its settings, and its deletion.

import type { ApiView } from '../../../apis/index.ts';
import { demandRows } from '../../../model/api-rows.ts';
import { apiRows } from '../../../model/apis/rows.ts';
import type { Row } from '../../../model/row.ts';
import { apiCall } from '../../pages/curl.ts';
import { boundsOf, durationFrom } from '../../pages/durations.ts';
import { isOn, linesOf, refusalOf, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { shows } from '../../pages/form-pages.ts';
import { type AdminContext, get, idOf, type Page, post, type Values } from '../../pages/page.ts';
import { acrChoices } from '../acr-choices.ts';
import { applicationChoices } from '../clients/choice.ts';
import { groupChoices } from '../groups/choice.ts';
import { createNames } from '../names.ts';
import { apisCrumb, formatLabel, here } from './list-page.ts';
import { apis } from './resource.ts';

const CLIENT = 'client.';
const CLAIM = 'claim.';

const formats = [
  {
    value: 'at+jwt',
    label: 'JWT',
    about: 'The API checks it by itself. Type “at+jwt” (RFC 9068).',
  },
  {
    value: 'jwt',
    label: 'JWT for older libraries',
    about: 'The same with type “JWT”, for libraries that refuse other types.',
  },
  {
    value: 'opaque',
    label: 'Opaque',
    about: 'The API asks this server about each token, so that a revocation counts at once.',
  },
];

const claims = Object.entries(apiRows.claims.kind.words ?? {}).map(([name, about]) => ({ name, about }));

/** Where RFC 9728 §3.1 puts the metadata of a resource; none for identifiers that are no web address. */
function metadataAddress(identifier: string): string | undefined {
  const url = URL.parse(identifier);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.origin}/.well-known/oauth-protected-resource${path}`;
}

const bounds = boundsOf(
  Object.fromEntries(Object.entries(demandRows).filter(([, { kind }]) => kind.control === 'number')),
);

const settable = (api: Values): Values =>
  Object.fromEntries(
    Object.entries<Row<unknown>>(apiRows).flatMap(([name, { setBy }]) =>
      setBy === 'server' ? [] : [[name, api[name]]],
    ),
  );

const accessOf = ({ clients }: ApiView) => ({
  isForAll: clients === 'all',
  chosen: clients === 'all' ? [] : clients,
});

const valuesOf = (api: ApiView): Values => ({
  name: api.name,
  is_open_to_agents: api.is_open_to_agents ? 'on' : '',
  access_token_format: api.access_token_format,
  access_token_seconds: api.access_token_seconds ?? '',
  required_acr: api.required_acr ?? '',
  max_auth_age: api.max_auth_age ?? '',
  require_dpop: api.require_dpop ? 'on' : '',
  ...Object.fromEntries(api.claims.map((name) => [CLAIM + name, 'on'])),
});

export const showApi = shows('api', async (context) => {
  const params = idOf(context);
  const { data: api, version } = await context.call(apis.read, { params });
  const [applications, groups] = await Promise.all([applicationChoices(context), groupChoices(context)]);
  const nameOf = createNames(context);
  const machines = await Promise.all(
    Object.entries(api.machine_grants).map(async ([id, scopes]) => ({
      id,
      scopes,
      application: await nameOf('client', id),
    })),
  );
  const listed = await Promise.all(accessOf(api).chosen.map((id) => nameOf('client', id)));
  const own = {
    title: api.name,
    isTitleName: true,
    here,
    crumbs: [apisCrumb],
    api,
    version,
    machines,
    listed,
    applications,
    scopeNames: api.scopes.map(({ name }) => name),
    acrChoices,
    formats,
    claims,
    bounds,
    formatLabel: formatLabel(api.access_token_format),
    groupLabelOf: (name: string) => groups.items.find((one) => one.name === name)?.label ?? name,
    metadataAddress: metadataAddress(api.identifier),
    access: accessOf(api),
    values: valuesOf(api),
    call: apiCall('PATCH', `/resources/${api.id}`, settable(api), version),
    isStale: false,
  };
  return own;
});

/** The ticked applications, and the typed ones where there are too many to list. */
function chosenIn({ form }: AdminContext): string[] {
  const ticked = form.keys().filter((name) => name.startsWith(CLIENT) && isOn(form, name));
  return [...ticked.map((name) => name.slice(CLIENT.length)), ...linesOf(form.get('clients'))];
}

async function save(context: AdminContext): Promise<void> {
  const { form } = context;
  const params = idOf(context);
  const isForAll = form.get('who') !== 'some';
  const chosen = chosenIn(context);
  const textIn = (name: string) => form.get(name);
  try {
    await context.call(apis.change, {
      params,
      ifVersion: versionOf(form),
      body: {
        name: (form.get('name') ?? '').trim(),
        clients: isForAll ? 'all' : chosen,
        is_open_to_agents: isOn(form, 'is_open_to_agents'),
        claims: claims.map(({ name }) => name).filter((name) => isOn(form, CLAIM + name)),
        access_token_format: form.get('access_token_format') ?? '',
        access_token_seconds: durationFrom(textIn, 'access_token_seconds'),
        required_acr: textOrNull(form.get('required_acr')),
        max_auth_age: durationFrom(textIn, 'max_auth_age'),
        require_dpop: isOn(form, 'require_dpop'),
      },
    });
    context.go(`/apis/${params.id}`, 'api-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const typed = { access: { isForAll, chosen, typed: form.get('clients') }, values: typedIn(form) };
    await showApi(context, { ...typed, errors, isStale, ...(isStale ? {} : { alert }) }, status);
  }
}

export const apiPages: readonly Page[] = [
  get('/apis/:id', (context) => showApi(context)),
  post('/apis/:id', save),
];
