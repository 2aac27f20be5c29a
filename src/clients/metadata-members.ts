// The RFC 7591 / OpenID Connect Registration members that this product supports, with their JSON types. Storage, validation
// and the admin API's schema are derived from this list.

import { legacyMembers } from './legacy-members.ts';

export type MemberType = 'string' | 'strings' | 'boolean' | 'integer' | 'object';

export const metadataMembers = {
  client_name: { type: 'string', description: 'Shown to people when they sign in and consent.' },
  application_type: { type: 'string', description: '`web` or `native`.' },
  redirect_uris: {
    type: 'strings',
    description: 'Allowed redirect URIs, compared character by character.',
  },
  post_logout_redirect_uris: { type: 'strings', description: 'Where the browser may go after a sign-out.' },
  grant_types: { type: 'strings', description: 'Grant types that the application may use.' },
  response_types: {
    type: 'strings',
    description:
      '`code`; empty for an application without the grant type `authorization_code`. With `profile`: `legacy` also implicit ' +
      'and hybrid ones.',
  },
  response_modes: {
    type: 'strings',
    description:
      'Response modes that the application may use; absent: all that it can have. Those with `jwt` need ' +
      '`authorization_signed_response_alg`.',
  },
  scope: {
    type: 'string',
    description:
      'Space-separated scopes that the application may request. `account` and `account:read` open the account API; only ' +
      'first-party applications (`skip_consent`) may have them, and lose them with that.',
  },
  token_endpoint_auth_method: {
    type: 'string',
    description:
      '`client_secret_basic`, `client_secret_post`, `private_key_jwt`, or `none` for a public client.',
  },
  token_endpoint_auth_signing_alg: {
    type: 'string',
    description: 'Algorithm of `private_key_jwt` assertions.',
  },
  jwks: { type: 'object', description: 'Public keys of the application (RFC 7517).' },
  jwks_uri: {
    type: 'string',
    description: 'Address from which the public keys of the application are fetched.',
  },
  id_token_signed_response_alg: {
    type: 'string',
    description:
      'The one algorithm that its ID tokens and logout tokens are signed with: `RS256`, the default, or `ES256`. Access tokens are ' +
      'signed with `RS256` whatever this says.',
  },
  userinfo_signed_response_alg: {
    type: 'string',
    description: '`RS256` or `ES256`: userinfo answers a JWT signed with it; absent: plain JSON.',
  },
  subject_type: { type: 'string', description: '`public`.' },
  default_max_age: { type: 'integer', description: 'Seconds after which users must sign in again.' },
  require_auth_time: { type: 'boolean', description: 'Whether ID tokens always carry `auth_time`.' },
  default_acr_values: {
    type: 'strings',
    description: 'Authentication context classes requested by default.',
  },
  dpop_bound_access_tokens: {
    type: 'boolean',
    description: 'Only access tokens that are bound to a key of the application are issued (DPoP, RFC 9449).',
  },
  require_pushed_authorization_requests: {
    type: 'boolean',
    description: 'Only pushed authorization requests (RFC 9126) are accepted.',
  },
  backchannel_logout_uri: {
    type: 'string',
    description: 'Receives a logout token when a session of the application ends.',
  },
  backchannel_logout_session_required: {
    type: 'boolean',
    description: 'Whether that logout token must contain a `sid`.',
  },
  initiate_login_uri: { type: 'string', description: 'Where a third party may start a sign-in.' },
  client_uri: { type: 'string', description: 'Home page.' },
  logo_uri: {
    type: 'string',
    description:
      'Address of a logo. Pages load no picture from elsewhere, so they do not show it: upload the logo instead.',
  },
  policy_uri: { type: 'string', description: 'Privacy policy.' },
  tos_uri: { type: 'string', description: 'Terms of service.' },
  contacts: { type: 'strings', description: 'E-mail addresses of the people responsible.' },
  software_id: { type: 'string', description: 'Identifies the software across all its installations.' },
  software_version: { type: 'string', description: 'Version of that software.' },
  ...legacyMembers,
} as const satisfies Readonly<Record<string, { readonly type: MemberType; readonly description: string }>>;

export type MemberName = keyof typeof metadataMembers;

export const isMemberName = (name: string): name is MemberName => Object.hasOwn(metadataMembers, name);

export const memberNames: readonly MemberName[] = Object.keys(metadataMembers).filter(isMemberName);

/** Descriptive RFC 7591 members that the protocol core's schema does not know. */
export const descriptiveMembers: readonly MemberName[] = ['software_id', 'software_version'];

/**
 * Members that only the server sets (RFC 7591 §3.2.1, RFC 7592 §2.2). A request with one is refused rather than processed
 * without it, so that no client believes it has chosen an id or a secret.
 */
export const serverMembers: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'client_secret_expires_at',
  'client_id_issued_at',
  'registration_access_token',
  'registration_client_uri',
  'client_type',
  'quarantine',
  'origin',
  'created_at',
  'updated_at',
]);

export const plainResponseModes = ['query', 'fragment', 'form_post'] as const;

/** JARM: for applications with `authorization_signed_response_alg`, which an administrator sets. */
export const signedResponseModes = ['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'] as const;

/** Scopes that any client may request unless an administrator restricts them. */
export const openScopes: readonly string[] = [
  'openid',
  'profile',
  'email',
  'phone',
  'address',
  'offline_access',
  'roles',
  'groups',
];

/** Scopes for the account API, which only first-party applications may have (account-scopes.ts). */
export const accountScopes = ['account', 'account:read'] as const;

/** Scopes for the admin API: only an administrator may grant them. */
export const adminScopes: readonly string[] = ['admin', 'admin:read'];

export const openGrantTypes: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
];

/** Grant types that RFC 9700 §2.4 advises against: only an administrator may allow them, for an old application. */
export const adminGrantTypes: readonly string[] = ['password'];

export const secretAuthMethods: ReadonlySet<string> = new Set(['client_secret_basic', 'client_secret_post']);

export const authMethods: readonly string[] = [...secretAuthMethods, 'private_key_jwt', 'none'];

/**
 * What ID tokens and userinfo answers are signed with, the default first. Secrets are stored as digests, so they cannot sign
 * (HS256), and `none` proves nothing.
 */
export const tokenSigningAlgorithms = ['RS256', 'ES256'] as const;
