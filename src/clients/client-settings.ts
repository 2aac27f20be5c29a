// What only an administrator decides about an application, beside its RFC 7591 metadata: wire names, bounds, conversion.
import { ours } from '../phrase.ts';
import type { ClientRecord } from '../store/collections.ts';
import { authenticationSettings, readAuthenticationSettings } from './acr.ts';
import { tokenSigningAlgorithms } from './metadata-members.ts';
import { originProblem } from './origins.ts';

export type AccessTokenAudience = 'issuer' | 'client_id';

/** Absent: unchanged. Null: the runtime setting applies. */
export interface SettingChanges {
  isActive?: boolean;
  skipConsent?: boolean;
  logoutNeedsAuth?: boolean;
  keycloakTokens?: boolean;
  minimalIdTokens?: boolean;
  mayIntrospect?: boolean;
  allowSelfSignup?: boolean | null;
  /** Of the addresses that this server calls for it. */
  approvedAddresses?: string[];
  requirePkce?: boolean;
  /** The identifier of an API; null: none. */
  defaultResource?: string | null;
  accessTokenSeconds?: number | null;
  idTokenSeconds?: number | null;
  refreshTokenSeconds?: number | null;
  accessTokenAudience?: AccessTokenAudience;
  requiredAcr?: string | null;
  maxAuthAgeSeconds?: number | null;
  /** Null: all users may sign in. */
  allowedGroups?: string[] | null;
  webOrigins?: string[];
  profile?: 'legacy' | null;
  /** Null: its authorization responses are never signed. */
  signedResponseAlg?: (typeof tokenSigningAlgorithms)[number] | null;
}

export const flagSettings = {
  is_active: { key: 'isActive', isNullable: false, description: 'Whether the application is active.' },
  skip_consent: {
    key: 'skipConsent',
    isNullable: false,
    description:
      'First-party: users are not asked for consent. Turning it off revokes grants given without consent.',
  },
  require_pkce: {
    key: 'requirePkce',
    isNullable: false,
    description:
      'Whether it must use PKCE. Always true for public, native and self-registered applications (of these not with the legacy ' +
      'profile), for redirect URIs with a custom scheme and for admin scopes; the runtime setting of the same name requires it of all.',
  },
  logout_needs_auth: {
    key: 'logoutNeedsAuth',
    isNullable: false,
    description:
      'A sign-out that a server requests with an ID token, without a browser, also requires client authentication.',
  },
  keycloak_tokens: {
    key: 'keycloakTokens',
    isNullable: false,
    description:
      'Its tokens have what clients of Keycloak read: `typ`, `azp`, `session_state`, with the scope `roles` also ' +
      '`realm_access` and `resource_access`; its refresh tokens are JWTs.',
  },
  minimal_id_tokens: {
    key: 'minimalIdTokens',
    isNullable: false,
    description:
      'Where it also gets an access token, its ID tokens say who signed in and how, and no more: the claims of the scopes ' +
      '`profile`, `email` and others come from userinfo alone (OpenID Connect Core §5.4).',
  },
  may_introspect: {
    key: 'mayIntrospect',
    isNullable: false,
    description:
      'With its secret or key it may introspect any access token without `admin` scopes, as a resource server does; ' +
      'otherwise those issued to it.',
  },
  allow_self_signup: {
    key: 'allowSelfSignup',
    isNullable: true,
    description: 'Whether users may sign up while signing in to it; null: the runtime setting applies.',
  },
} as const;

const YEAR_SECONDS = 31_536_000;

export const lifetimeSettings = {
  access_token_seconds: { key: 'accessTokenSeconds', minimum: 30, maximum: 86_400 },
  id_token_seconds: { key: 'idTokenSeconds', minimum: 30, maximum: 86_400 },
  refresh_token_seconds: { key: 'refreshTokenSeconds', minimum: 60, maximum: YEAR_SECONDS },
} as const;

export const allowedGroupsSetting = {
  maxItems: 100,
  /** Names of groups; that they exist is checked where the application is written. */
  maxLength: 64,
  description: 'Only members of one of these groups may sign in to it; null: all users, []: none.',
} as const;

export const webOriginsSetting = {
  maxItems: 50,
  maxLength: 300,
  description:
    'Origins of its scripts, in addition to those of its redirect URIs: they may read its token, userinfo and revocation ' +
    'responses. An application with web origins always uses PKCE.',
} as const;

export const approvedAddressesSetting = {
  maxItems: 10,
  maxLength: 2000,
  description:
    'Which of `jwks_uri`, `backchannel_logout_uri` and `request_uris` an administrator approved; those entered by an administrator are. ' +
    'Only approved addresses may be on the internal network, where OUTBOUND_ALLOW covers them.',
} as const;

const audiences: readonly AccessTokenAudience[] = ['issuer', 'client_id'];

export const audienceSetting = {
  values: audiences,
  description:
    'The `aud` of its access tokens. `issuer`, the default of new applications: none of them passes for an ID token. ' +
    '`client_id`: for APIs that compare `aud` with the id of the application.',
} as const;

export const defaultResourceSetting = {
  maxLength: 500,
  description:
    'The identifier of the API that its tokens are for when a request names none; null: none. With the scope `openid` and ' +
    'no API named they are for userinfo all the same.',
} as const;

export const profileSetting = {
  values: ['legacy'],
  description:
    '`legacy`: it may use implicit and hybrid response types, signed request objects and session management while the setting ' +
    '`legacy_profiles` is on; never native applications and those with admin scopes. Null: the code flow alone.',
} as const;

export const signedResponseSetting = {
  values: tokenSigningAlgorithms,
  description:
    'It may ask for signed authorization responses (JARM: the response modes `jwt`, `query.jwt`, `fragment.jwt` and ' +
    '`form_post.jwt`), which are then signed with this algorithm, errors too; null: it may not, and nobody who registers an ' +
    'application can set it.',
} as const;

export const settingNames: ReadonlySet<string> = new Set([
  'profile',
  'authorization_signed_response_alg',
  'approved_addresses',
  'access_token_audience',
  'default_resource',
  'allowed_groups',
  'web_origins',
  ...Object.keys(flagSettings),
  ...Object.keys(lifetimeSettings),
  ...Object.keys(authenticationSettings),
]);

/**
 * @param input wire names; other members are ignored
 * @returns the changes, and problems by member name
 */
export function readSettings(input: Readonly<Record<string, unknown>>): {
  changes: SettingChanges;
  problems: Record<string, string>;
} {
  const { changes: authentication, problems } = readAuthenticationSettings(input);
  const changes: SettingChanges = authentication;
  for (const [name, { key, isNullable }] of Object.entries(flagSettings)) {
    const value = input[name];
    if (value === undefined) continue;
    if (typeof value === 'boolean') changes[key] = value;
    else if (value === null && isNullable) changes[key] = null;
    else problems[name] = 'Must be true or false.';
  }
  for (const [name, { key, minimum, maximum }] of Object.entries(lifetimeSettings)) {
    const value = input[name];
    if (value === undefined) continue;
    if (value === null) changes[key] = null;
    else if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) {
      changes[key] = value;
    } else problems[name] = `Must be a whole number of seconds from ${minimum} to ${maximum}.`;
  }
  const { access_token_audience: audience } = input;
  const known = audiences.find((one) => one === audience);
  if (known !== undefined) changes.accessTokenAudience = known;
  else if (audience !== undefined) problems.access_token_audience = `Must be one of ${audiences.join(', ')}.`;
  const groups = input.allowed_groups;
  if (groups === null || isTextList(groups, allowedGroupsSetting)) changes.allowedGroups = groups;
  else if (groups !== undefined) problems.allowed_groups = 'Must be a list of group names, or null.';
  const { default_resource: resource } = input;
  const isIdentifier = typeof resource === 'string' && resource.length <= defaultResourceSetting.maxLength;
  if (isIdentifier || resource === null) changes.defaultResource = resource;
  else if (resource !== undefined) problems.default_resource = 'Must be the identifier of an API, or null.';
  const { approved_addresses: approved } = input;
  if (isTextList(approved, approvedAddressesSetting)) changes.approvedAddresses = approved;
  else if (approved !== undefined) problems.approved_addresses = 'Must be a list of addresses.';
  const { profile } = input;
  if (profile === 'legacy' || profile === null) changes.profile = profile;
  else if (profile !== undefined) problems.profile = 'Must be legacy, or null.';
  const { authorization_signed_response_alg: alg } = input;
  const chosen = tokenSigningAlgorithms.find((one) => one === alg);
  if (chosen !== undefined || alg === null) changes.signedResponseAlg = chosen ?? null;
  else if (alg !== undefined)
    problems.authorization_signed_response_alg = `Must be one of ${tokenSigningAlgorithms.join(', ')}, or null.`;
  const origins = input.web_origins;
  const problem = origins === undefined ? undefined : originsProblem(origins);
  if (problem !== undefined) problems.web_origins = problem;
  else if (Array.isArray(origins)) changes.webOrigins = origins.map(String);
  return { changes, problems };
}

function originsProblem(value: unknown): string | undefined {
  const { maxItems } = webOriginsSetting;
  if (!Array.isArray(value) || value.length > maxItems)
    return `Must be a list of at most ${maxItems} origins.`;
  for (const [at, one] of value.entries()) {
    const problem = typeof one === 'string' ? originProblem(one) : 'must be a string';
    if (problem !== undefined) return `Entry ${at + 1} ${ours(problem)}.`;
  }
  return undefined;
}

const isTextList = (
  value: unknown,
  { maxItems, maxLength }: { readonly maxItems: number; readonly maxLength: number },
): value is string[] =>
  Array.isArray(value) &&
  value.length <= maxItems &&
  value.every((text) => typeof text === 'string' && text.length <= maxLength);

/**
 * @param defaultApi what `defaultResource` names
 * @returns the record with the changes applied
 */
export function withSettings(
  record: ClientRecord,
  changes: SettingChanges,
  defaultApi: ClientRecord['defaultApi'],
): ClientRecord {
  const next: ClientRecord = {
    ...record,
    isActive: changes.isActive ?? record.isActive,
    skipConsent: changes.skipConsent ?? record.skipConsent,
  };
  if (changes.defaultResource === null) delete next.defaultApi;
  else if (defaultApi !== undefined) next.defaultApi = defaultApi;
  if (changes.requirePkce === false) delete next.requirePkce;
  else if (changes.requirePkce === true && record.requirePkce !== true) {
    next.requirePkce = true;
    // Now somebody's decision.
    delete next.pkceRequiredAt;
  }
  if (changes.logoutNeedsAuth === false) delete next.logoutNeedsAuth;
  else if (changes.logoutNeedsAuth === true) next.logoutNeedsAuth = true;
  if (changes.keycloakTokens === false) delete next.keycloakTokens;
  else if (changes.keycloakTokens === true) next.keycloakTokens = true;
  if (changes.minimalIdTokens === false) delete next.minimalIdTokens;
  else if (changes.minimalIdTokens === true) next.minimalIdTokens = true;
  if (changes.mayIntrospect === false) delete next.mayIntrospect;
  else if (changes.mayIntrospect === true) next.mayIntrospect = true;
  if (changes.accessTokenAudience === 'issuer') next.accessTokenAudience = 'issuer';
  else if (changes.accessTokenAudience === 'client_id') delete next.accessTokenAudience;
  if (changes.allowSelfSignup === null) delete next.allowSelfSignup;
  else if (changes.allowSelfSignup !== undefined) next.allowSelfSignup = changes.allowSelfSignup;
  if (changes.allowedGroups === null) delete next.allowedGroups;
  else if (changes.allowedGroups !== undefined)
    next.allowedGroups = [...new Set(changes.allowedGroups)].sort();
  if (changes.webOrigins?.length === 0) delete next.webOrigins;
  else if (changes.webOrigins !== undefined) next.webOrigins = [...new Set(changes.webOrigins)].sort();
  if (changes.profile === null) delete next.profile;
  else if (changes.profile !== undefined) next.profile = changes.profile;
  if (changes.signedResponseAlg === null) delete next.signedResponseAlg;
  else if (changes.signedResponseAlg !== undefined) next.signedResponseAlg = changes.signedResponseAlg;
  if (changes.requiredAcr === null) delete next.requiredAcr;
  else if (changes.requiredAcr !== undefined) next.requiredAcr = changes.requiredAcr;
  const seconds = [...Object.values(lifetimeSettings), { key: 'maxAuthAgeSeconds' } as const];
  for (const { key } of seconds) {
    const value = changes[key];
    if (value === null) delete next[key];
    else if (value !== undefined) next[key] = value;
  }
  return next;
}
