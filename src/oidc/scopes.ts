// Owns scopes and claims: which there are, and which claims each one opens (OIDC Core §5.4; decisions §5).

const PROFILE_CLAIMS = [
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'updated_at',
] as const;

export const claimsByScope = {
  // What the authentication was is in every ID token (decisions §5); userinfo has none of the last three to tell.
  openid: ['sub', 'auth_time', 'acr', 'amr'],
  profile: [...PROFILE_CLAIMS],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
  roles: ['roles'],
  groups: ['groups'],
} as const;

/** Every scope the authorization endpoint takes; anything else is ignored by the library. */
export const scopes = [...Object.keys(claimsByScope), 'offline_access', 'admin', 'admin:read'];

/** Which roles may give an application a scope that opens the admin API; all others are for everybody. */
const rolesByScope: Readonly<Record<string, readonly string[]>> = {
  admin: ['admin'],
  'admin:read': ['admin', 'auditor'],
};

/** They open the admin API. */
export const ADMIN_SCOPES: ReadonlySet<string> = new Set(Object.keys(rolesByScope));

/** @returns whether a person of that role can grant the scope; others get tokens without it */
export const isGrantable = (scope: string, role: string): boolean =>
  !Object.hasOwn(rolesByScope, scope) || rolesByScope[scope]?.includes(role) === true;

/** What an authentication was worth, as `acr` says it. */
export const ACR = {
  singleFactor: 'urn:latchkey:acr:single-factor',
  /** A password and a code by mail: more than one, less than two, since the same password may open the mailbox. */
  emailCode: 'urn:latchkey:acr:email-code',
  multiFactor: 'urn:latchkey:acr:multi-factor',
} as const;

/** @returns the space-separated list without the scopes that open the admin API; undefined where nothing remains */
export function withoutAdminScopes(scope: string): string | undefined {
  const kept = scope.split(' ').filter((name) => name !== '' && !Object.hasOwn(rolesByScope, name));
  return kept.length === 0 ? undefined : kept.join(' ');
}
