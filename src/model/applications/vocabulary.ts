// The values that members of an application have, by the name of what they are.

export const plainResponseModes = ['query', 'fragment', 'form_post'] as const;

/** JARM: for applications with `authorization_signed_response_alg`, which an administrator sets. */
export const signedResponseModes = ['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'] as const;

/** Words in alphabetical order, as the protocol core compares them. */
export const legacyResponseTypes = [
  'code id_token',
  'code id_token token',
  'code token',
  'id_token',
  'id_token token',
] as const;

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

/** Scopes for the account API, which only first-party applications may have (src/clients/account-scopes.ts). */
export const accountScopes = ['account', 'account:read'] as const;

/** Scopes for the admin API: only an administrator may grant them. */
export const adminScopes: readonly string[] = ['admin', 'admin:read'];

export const secretAuthMethods: ReadonlySet<string> = new Set(['client_secret_basic', 'client_secret_post']);

export const authMethods: readonly string[] = [...secretAuthMethods, 'private_key_jwt', 'none'];

/**
 * What ID tokens and userinfo answers are signed with, the default first. Secrets are stored as digests, so they cannot sign
 * (HS256), and `none` proves nothing.
 */
export const tokenSigningAlgorithms = ['RS256', 'ES256'] as const;

export const signedWith = { RS256: 'Signed with RS256', ES256: 'Signed with ES256' } as const;

/** Asymmetric only, for the same reasons. */
export const requestObjectAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
