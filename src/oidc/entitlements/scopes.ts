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

/** The claims of each scope (OIDC Core §5.4; decisions §5). */
export const claimsByScope = {
  // The last three describe the authentication: every ID token has them (decisions §5), userinfo never.
  openid: ['sub', 'auth_time', 'acr', 'amr'],
  profile: [...PROFILE_CLAIMS],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
  roles: ['roles'],
  groups: ['groups'],
} as const;

/** All scopes that the authorization endpoint accepts; the library ignores others. */
export const scopes = [...Object.keys(claimsByScope), 'offline_access', 'admin', 'admin:read'];

/** The roles that may grant a scope of the admin API; every user may grant all other scopes. */
const rolesByScope: Readonly<Record<string, readonly string[]>> = {
  admin: ['admin'],
  'admin:read': ['admin', 'auditor'],
};

/** The scopes of the admin API. */
export const ADMIN_SCOPES: ReadonlySet<string> = new Set(Object.keys(rolesByScope));

/** @returns whether a user with that role can grant the scope; others get tokens without it */
export const isGrantable = (scope: string, role: string): boolean =>
  !Object.hasOwn(rolesByScope, scope) || rolesByScope[scope]?.includes(role) === true;

/** @returns the space-separated list without the admin scopes; undefined when none remains */
export function withoutAdminScopes(scope: string): string | undefined {
  const kept = scope.split(' ').filter((name) => name !== '' && !Object.hasOwn(rolesByScope, name));
  return kept.length === 0 ? undefined : kept.join(' ');
}
