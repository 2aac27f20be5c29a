// The page of one application: the details its developer needs, its settings, and code snippets for its framework.
import { type ClientView, type PublicMetadata, whyPkceAlways } from '../../../clients/index.ts';
import { apiCall } from '../../pages/curl.ts';
import { durationFrom } from '../../pages/durations.ts';
import { linesOf, refusalOf, textOf, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { type AdminContext, idOf, type Page, type Values } from '../../pages/page.ts';
import { acrChoices } from '../acr-choices.ts';
import { apiChoices } from '../apis/choice.ts';
import { auditLog } from '../audit/resource.ts';
import { groupChoices } from '../groups/choice.ts';
import { accountAccessOf, accountChoices, mayOpenAccounts, scopeBody } from './account-access-form.ts';
import { readAskedUris } from './asked-uris.ts';
import { readCalls } from './called-addresses-model.ts';
import { hasSecret, kindLabel, kindOf } from './kind-of.ts';
import { hasLegacyPart, legacyBody, legacyBoxes, legacyTypes, legacyValues } from './legacy-form.ts';
import { bounds, lifetimeBody, lifetimeFields, lifetimeValues } from './lifetimes-form.ts';
import { clients } from './resource.ts';
import { signatureBody, signatureFields, signatureValues } from './signatures-form.ts';
import { verdictsOn } from './uri-verdicts.ts';

const here = 'applications';

const lists = ['redirect_uris', 'post_logout_redirect_uris', 'web_origins'] as const;
const texts = [
  'client_name',
  'client_uri',
  'policy_uri',
  'tos_uri',
  'backchannel_logout_uri',
  'default_resource',
];

const grants = [
  { name: 'authorization_code', label: 'Sign users in (authorization code)' },
  { name: 'refresh_token', label: 'Stay signed in (refresh token)' },
  { name: 'urn:ietf:params:oauth:grant-type:device_code', label: 'Devices without a keyboard (device code)' },
  { name: 'client_credentials', label: 'Act for itself (client credentials)' },
];

/** The values of the form, one text per field. */
function valuesOf(client: Values): Values {
  const listed = (name: string): string => {
    const value = client[name];
    return Array.isArray(value) ? value.join('\n') : '';
  };
  const own: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  return {
    ...Object.fromEntries(texts.map((name) => [name, client[name] ?? ''])),
    ...Object.fromEntries(lists.map((name) => [name, listed(name)])),
    ...lifetimeValues(client),
    ...Object.fromEntries(grants.map(({ name }) => [`grant.${name}`, own.includes(name) ? 'on' : ''])),
    ...accountAccessOf(client),
    skip_consent: client.skip_consent === true ? 'on' : '',
    require_pkce: client.require_pkce === true ? 'on' : '',
    is_own_audience: client.access_token_audience === 'client_id' ? 'on' : '',
    may_introspect: client.may_introspect === true ? 'on' : '',
    // Whether the form has the box; where PKCE is always required there is nothing to choose.
    has_pkce_choice: whyPkceOf(client) === undefined ? 'on' : '',
    // A machine's form has nothing about sign-ins.
    has_sign_in_rules: kindOf(client) === 'machine' ? '' : 'on',
    required_acr: client.required_acr ?? '',
    max_auth_age: client.max_auth_age ?? '',
    logout_needs_auth: client.logout_needs_auth === true ? 'on' : '',
    keycloak_tokens: client.keycloak_tokens === true ? 'on' : '',
    minimal_id_tokens: client.minimal_id_tokens === true ? 'on' : '',
    dpop_bound_access_tokens: client.dpop_bound_access_tokens === true ? 'on' : '',
    // Nothing is signed of a machine but its access tokens.
    has_signatures: kindOf(client) === 'machine' ? '' : 'on',
    ...signatureValues(client),
    ...legacyValues(client),
  };
}

const whyPkceOf = (client: Values): string | undefined =>
  whyPkceAlways({ metadata: client, origin: client.origin, profile: client.profile });

export const applicationName = (client: PublicMetadata & { readonly client_id?: unknown }): string =>
  textOf(client, 'client_name') || textOf(client, 'client_id');

/** Who may sign in: null in the API means all users. */
const accessOf = ({ allowed_groups: groups }: ClientView) => ({
  isForEverybody: groups === null,
  chosen: groups ?? [],
});

const UNGUARDED_DAYS = 7;

/** @returns when somebody last signed in with neither PKCE nor a nonce, if that was lately */
async function lastUnguarded(context: AdminContext, clientId: string): Promise<string | undefined> {
  const from = new Date(context.now - UNGUARDED_DAYS * 86_400_000).toISOString();
  const query = { event: 'token.unguarded', client_id: clientId, at_from: from, limit: '1' };
  return (await context.call(auditLog.list, { query })).data.items[0]?.at;
}

export async function showApplication(
  context: AdminContext,
  model: object = {},
  status = 200,
): Promise<void> {
  const params = { client_id: idOf(context).id };
  const { data: client, version } = await context.call(clients.read, { params });
  const hasUris = client.origin !== 'seed' && kindOf(client) !== 'machine';
  const [choices, apis, unguardedAt, calls, refusals, hasLegacy, asked] = await Promise.all([
    groupChoices(context),
    apiChoices(context),
    client.require_pkce ? undefined : lastUnguarded(context, params.client_id),
    readCalls(context, client),
    context.call(clients.refusals, { params }),
    hasLegacyPart(context, client),
    hasUris ? readAskedUris(context, client) : undefined,
  ]);
  const stored = valuesOf(client);
  const isFilled = asked?.isFilled === true;
  const own = {
    access: accessOf(client),
    stored: accessOf(client),
    groupChoices: choices,
    apis,
    groupLabelOf: (name: string) => choices.items.find((choice) => choice.name === name)?.label ?? name,
    title: applicationName(client),
    isTitleName: true,
    here,
    crumbs: [{ label: 'Applications', href: '/applications' }],
    client,
    version,
    kind: kindOf(client),
    whyPkce: whyPkceOf(client),
    unguardedAt,
    calls,
    refusals: refusals.data.items,
    kindLabel: kindLabel(client),
    hasSecret: hasSecret(client),
    isOurs: client.origin === 'seed',
    grants,
    accountChoices: mayOpenAccounts(client) ? accountChoices : [],
    acrChoices,
    signatureFields,
    hasLegacy,
    legacyTypes,
    bounds,
    lifetimeFields,
    asked,
    verdicts:
      isFilled && asked.field === 'redirect_uris'
        ? await verdictsOn(context, asked.lines, client.application_type)
        : [],
    values: { ...stored, ...(isFilled && { [asked.field]: asked.lines.join('\n') }) },
    call: apiCall(
      'PATCH',
      `/clients/${params.client_id}`,
      bodyOf((name) => String(stored[name] ?? '')),
      version,
    ),
    isStale: false,
  };
  context.show('application', { ...own, ...model }, status);
}

/** Converts the form's values to the API's. */
function bodyOf(textIn: (name: string) => string | undefined): Values {
  return {
    ...Object.fromEntries(texts.map((name) => [name, textOrNull(textIn(name))])),
    ...Object.fromEntries(lists.map((name) => [name, linesOf(textIn(name))])),
    ...scopeBody(textIn),
    ...lifetimeBody(textIn),
    grant_types: grants.map(({ name }) => name).filter((name) => textIn(`grant.${name}`) === 'on'),
    skip_consent: textIn('skip_consent') === 'on',
    keycloak_tokens: textIn('keycloak_tokens') === 'on',
    minimal_id_tokens: textIn('minimal_id_tokens') === 'on',
    dpop_bound_access_tokens: textIn('dpop_bound_access_tokens') === 'on',
    may_introspect: textIn('may_introspect') === 'on',
    access_token_audience: textIn('is_own_audience') === 'on' ? 'client_id' : 'issuer',
    ...(textIn('has_pkce_choice') === 'on' && { require_pkce: textIn('require_pkce') === 'on' }),
    ...(textIn('has_sign_in_rules') === 'on' && {
      required_acr: textOrNull(textIn('required_acr')),
      max_auth_age: durationFrom(textIn, 'max_auth_age'),
      logout_needs_auth: textIn('logout_needs_auth') === 'on',
    }),
    ...signatureBody(textIn),
    ...legacyBody(textIn),
  };
}

async function save(context: AdminContext): Promise<void> {
  const { form } = context;
  const params = { client_id: idOf(context).id };
  try {
    await context.call(clients.change, {
      params,
      ifVersion: versionOf(form),
      body: bodyOf((name) => form.get(name)),
    });
    context.go(`/applications/${encodeURIComponent(params.client_id)}`, 'application-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const unchecked = Object.fromEntries(grants.map(({ name }) => [`grant.${name}`, '']));
    const values = {
      ...unchecked,
      skip_consent: '',
      require_pkce: '',
      may_introspect: '',
      is_own_audience: '',
      logout_needs_auth: '',
      keycloak_tokens: '',
      minimal_id_tokens: '',
      dpop_bound_access_tokens: '',
      ...legacyBoxes,
      ...typedIn(form),
    };
    const type = form.get('application_type');
    const verdicts = errors.redirect_uris
      ? await verdictsOn(context, linesOf(form.get('redirect_uris')), type)
      : [];
    const shown = { values, errors, isStale, verdicts, ...(isStale ? {} : { alert }) };
    await showApplication(context, shown, status);
  }
}

export const applicationPages: readonly Page[] = [
  { method: 'GET', path: '/applications/:id', handle: (context) => showApplication(context) },
  { method: 'POST', path: '/applications/:id', handle: save },
];
