// The options of a test sign-in, and reading them from the form: parameters of the authorization request (OIDC Core
// §3.1.2.1). Only the authorization endpoint evaluates them.

import type { ApiView } from '../../apis/index.ts';
import type { ClientView } from '../../clients/index.ts';
import { ACR } from '../../model/acr.ts';
import { scopes as knownScopes } from '../../oidc/index.ts';
import { isOn, textOf } from '../pages/field-values.ts';
import type { AdminContext } from '../pages/page.ts';
import { templateOf } from '../resources/clients/template-of.ts';

export const scopeAbout: Readonly<Record<string, string>> = {
  openid: 'User ID. Always requested.',
  profile: 'Name and profile details.',
  email: 'E-mail address, and whether it is verified.',
  phone: 'Phone number.',
  address: 'Postal address.',
  roles: 'Role at this provider.',
  groups: 'Groups at this provider.',
  offline_access: 'Access while the user is away.',
  account: 'Reading and changing the account.',
  'account:read': 'Reading the account.',
  admin: 'Full access to the admin API.',
  'admin:read': 'Read access to the admin API.',
};

const USUAL = new Set(['openid', 'profile', 'email']);

export const prompts = [
  { value: '', label: 'Default', about: '' },
  { value: 'login', label: 'login', about: 'asks for the password again' },
  { value: 'select_account', label: 'select_account', about: 'asks which account' },
  { value: 'consent', label: 'consent', about: 'asks for consent again' },
  { value: 'create', label: 'create', about: 'starts with sign-up' },
  { value: 'none', label: 'none', about: 'shows no page, or fails' },
];

export const acrs = [
  { value: '', label: 'Default' },
  { value: ACR.multiFactor, label: 'Two factors' },
  { value: ACR.singleFactor, label: 'One factor' },
];

export const locales = ['', 'en', 'de', 'es', 'fr', 'pt', 'ja', 'ar'];

interface ScopeChoice {
  readonly name: string;
  readonly about: string;
  readonly isOn: boolean;
}

export interface Choices {
  readonly scopes: readonly ScopeChoice[];
  /** Those of the API that is asked for. */
  readonly apiScopes: readonly ScopeChoice[];
  /** The API's identifier (RFC 8707); empty: none is asked for. */
  readonly resource: string;
  readonly prompt: string;
  readonly acr_values: string;
  readonly login_hint: string;
  readonly ui_locales: string;
}

const LONGEST_HINT = 200;

/** The known scopes that the application may request. */
const allowedScopes = (client: ClientView): string[] => {
  const own = textOf(client, 'scope').split(' ');
  return knownScopes.filter((name) => own.includes(name));
};

/** @param given the page's query, which carries the choices of an earlier test sign-in */
export function choicesOf(
  client: ClientView,
  given: Pick<URLSearchParams, 'get'>,
  api: ApiView | undefined,
): Choices {
  const wanted = given.get('scope')?.split(' ');
  return {
    resource: api?.identifier ?? '',
    apiScopes: (api?.scopes ?? []).map(({ name, description, is_default }) => ({
      name,
      about: description,
      isOn: wanted?.includes(name) ?? is_default === true,
    })),
    scopes: allowedScopes(client).map((name) => ({
      name,
      about: scopeAbout[name] ?? '',
      isOn: name === 'openid' || (wanted ?? [...USUAL]).includes(name),
    })),
    prompt: given.get('prompt') ?? '',
    acr_values: given.get('acr_values') ?? '',
    login_hint: (given.get('login_hint') ?? '').slice(0, LONGEST_HINT),
    ui_locales: given.get('ui_locales') ?? '',
  };
}

/** @returns the choices of a submitted form, as query parameters */
export function readChoices(
  { form }: AdminContext,
  client: ClientView,
  api: ApiView | undefined,
): URLSearchParams {
  const given = new URLSearchParams();
  // The button on the application's page submits no choices.
  if (form.get('chosen') !== 'on') return given;
  const names = allowedScopes(client).filter((name) => name === 'openid' || isOn(form, `scope.${name}`));
  const ofApi = (api?.scopes ?? []).map(({ name }) => name).filter((name) => isOn(form, `api_scope.${name}`));
  given.set('scope', [...names, ...ofApi].join(' '));
  for (const name of ['prompt', 'acr_values', 'login_hint', 'ui_locales'] as const) {
    const value = (form.get(name) ?? '').trim();
    if (value !== '') given.set(name, value);
  }
  return given;
}

/** @returns errors by field for values that the form does not offer */
export function problemsOf(choices: Choices, given: URLSearchParams): Record<string, string> {
  const isOneOf = (options: readonly string[], value: string): boolean => options.includes(value);
  const problems: Record<string, string> = {};
  const values = (options: readonly { readonly value: string }[]) => options.map(({ value }) => value);
  if (!isOneOf(values(prompts), choices.prompt)) problems.prompt = 'Choose one of these.';
  if (!isOneOf(values(acrs), choices.acr_values)) problems.acr_values = 'Choose one of these.';
  if (!isOneOf(locales, choices.ui_locales)) problems.ui_locales = 'Choose one of these.';
  const hint = given.get('login_hint') ?? '';
  if (hint.length > LONGEST_HINT) problems.login_hint = `At most ${LONGEST_HINT} characters.`;
  return problems;
}

/** The authorization request parameters of the choices. */
export function parametersOf({ scopes, apiScopes, ...others }: Choices): Record<string, string> {
  const scope = [...scopes, ...apiScopes].filter((one) => one.isOn).map(({ name }) => name);
  const filled = Object.entries(others).filter(([, value]) => value !== '');
  return { scope: scope.join(' '), ...Object.fromEntries(filled) };
}

/** @returns why a test sign-in is not possible; undefined when it is */
export function obstacleOf(client: ClientView): string | undefined {
  if (client.origin === 'seed') return 'This is the Admin UI itself, which you are already signed in to.';
  const grants: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  if (templateOf(client) === 'machine') {
    return 'It gets tokens for itself with its own secret. No user signs in, so there is no sign-in to test.';
  }
  if (!grants.includes('authorization_code')) {
    return 'Users sign in to it with a code from a device. Test it on the device.';
  }
  if (!allowedScopes(client).includes('openid')) {
    return 'It may not request the scope openid, so it cannot sign users in. Add openid to its scopes first.';
  }
  if (client.require_pushed_authorization_requests === true) {
    return 'It must push its requests with its own secret (RFC 9126), which is not available here.';
  }
  if (client.require_signed_request_object === true) {
    return 'It must sign its requests with its own key (RFC 9101), which is not available here.';
  }
  if (client.is_active !== true) return 'It is deactivated. Reactivate it first.';
  return undefined;
}
