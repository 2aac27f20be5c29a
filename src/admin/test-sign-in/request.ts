// Owns what may be chosen before a trial sign-in, and reading it out of the form: parameters of the authorization request
// (OIDC Core §3.1.2.1). What they lead to is for the authorization endpoint alone to say.
import { ACR, scopes as knownScopes } from '../../oidc/scopes.ts';
import { isOn, textOf } from '../pages/field-values.ts';
import type { AdminContext, Values } from '../pages/page.ts';
import { kindOf } from '../resources/clients/list-page.ts';

const scopeAbout: Readonly<Record<string, string>> = {
  openid: 'Who it is. Always asked for.',
  profile: 'Name and what belongs to it.',
  email: 'E-mail address, and whether it is verified.',
  phone: 'Phone number.',
  address: 'Postal address.',
  roles: 'Role at this provider.',
  groups: 'Groups at this provider.',
  offline_access: 'A refresh token, for when nobody is there.',
  admin: 'Everything in the admin API.',
  'admin:read': 'Reading in the admin API.',
};

const USUAL = new Set(['openid', 'profile', 'email']);

export const prompts = [
  { value: '', label: 'Only what is missing', about: '' },
  { value: 'login', label: 'login', about: 'the password again, of anybody' },
  { value: 'select_account', label: 'select_account', about: 'asks which account' },
  { value: 'consent', label: 'consent', about: 'asks for consent again' },
  { value: 'create', label: 'create', about: 'begins with a new account' },
  { value: 'none', label: 'none', about: 'shows no page, or fails' },
];

export const acrs = [
  { value: '', label: 'As the settings say' },
  { value: ACR.multiFactor, label: 'Two factors' },
  { value: ACR.singleFactor, label: 'One factor' },
];

export const locales = ['', 'en', 'de', 'es', 'fr', 'pt', 'ja', 'ar'];

export interface Choices {
  readonly scopes: readonly { readonly name: string; readonly about: string; readonly isOn: boolean }[];
  readonly prompt: string;
  readonly acr_values: string;
  readonly login_hint: string;
  readonly ui_locales: string;
}

const LONGEST_HINT = 200;

/** Those it may ask for, of those there are. */
const allowedScopes = (client: Values): string[] => {
  const own = textOf(client, 'scope').split(' ');
  return knownScopes.filter((name) => own.includes(name));
};

/** @param given the address of the page: an earlier trial's choices come along in it */
export function choicesOf(client: Values, given: Pick<URLSearchParams, 'get'>): Choices {
  const wanted = given.get('scope')?.split(' ');
  return {
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

/** @returns the choices of a sent form, as an address would have them */
export function readChoices({ form }: AdminContext, client: Values): URLSearchParams {
  const given = new URLSearchParams();
  // The one button on the application's page chooses nothing.
  if (form.get('chosen') !== 'on') return given;
  const names = allowedScopes(client).filter((name) => name === 'openid' || isOn(form, `scope.${name}`));
  given.set('scope', names.join(' '));
  for (const name of ['prompt', 'acr_values', 'login_hint', 'ui_locales'] as const) {
    const value = (form.get(name) ?? '').trim();
    if (value !== '') given.set(name, value);
  }
  return given;
}

/** @returns what cannot have been chosen on our page, by field */
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

/** The parameters that the choices make. */
export function parametersOf({ scopes, ...others }: Choices): Record<string, string> {
  const scope = scopes.filter((one) => one.isOn).map(({ name }) => name);
  const filled = Object.entries(others).filter(([, value]) => value !== '');
  return { scope: scope.join(' '), ...Object.fromEntries(filled) };
}

/** @returns why there is nothing to try; undefined where there is */
export function obstacleOf(client: Values): string | undefined {
  if (client.origin === 'seed') return 'This is the Admin UI itself: you tried it by coming here.';
  const grants: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  if (kindOf(client) === 'machine') {
    return 'It gets tokens for itself, by its own secret. No person signs in, so there is no sign-in to try.';
  }
  if (!grants.includes('authorization_code')) {
    return 'People sign in to it with a code that a device shows, not in the browser that it runs in. Try it on the device.';
  }
  if (!allowedScopes(client).includes('openid')) {
    return 'It may not ask for the scope openid, so it signs nobody in. Add openid to its scopes first.';
  }
  if (client.require_pushed_authorization_requests === true) {
    return 'It pushes its requests with its own secret (RFC 9126), and would be refused here without.';
  }
  if (client.is_active !== true)
    return 'It is deactivated, and so refused like any other. Reactivate it first.';
  return undefined;
}
