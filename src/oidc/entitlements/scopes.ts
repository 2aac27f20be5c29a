import { accountScopes } from '../../model/applications/vocabulary.ts';
import type { ClaimScope, UserFacts } from '../../model/users/facts.ts';
import { userRows } from '../../model/users/rows.ts';

const namesUnder = (wanted: ClaimScope): string[] =>
  Object.values<UserFacts>(userRows).flatMap(({ claim }) => (claim?.scope === wanted ? [claim.name] : []));

/** The claims of each scope (OIDC Core §5.4; decision 0009). */
export const claimsByScope: Readonly<Record<ClaimScope, readonly string[]>> = {
  // The last three describe the authentication: every ID token has them (decision 0009), userinfo never.
  openid: [...namesUnder('openid'), 'auth_time', 'acr', 'amr'],
  profile: namesUnder('profile'),
  email: namesUnder('email'),
  phone: namesUnder('phone'),
  address: namesUnder('address'),
  roles: namesUnder('roles'),
  groups: namesUnder('groups'),
};

/** All scopes that the authorization endpoint accepts; the library ignores others. */
export const scopes: readonly string[] = [
  ...Object.keys(claimsByScope),
  'offline_access',
  ...accountScopes,
  'admin',
  'admin:read',
];

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

/** The scopes of the account API. */
export const ACCOUNT_SCOPES: ReadonlySet<string> = new Set(accountScopes);

/**
 * What opens an account or this server. Only an authorization in the user's own browser grants them: a device code and a password
 * can be phished (RFC 8628 §5.4), and machines have no account.
 */
export const INTERACTIVE_SCOPES: ReadonlySet<string> = new Set([...ADMIN_SCOPES, ...ACCOUNT_SCOPES]);

/** @returns the space-separated list without those; undefined when none remains */
export function withoutInteractiveScopes(scope: string): string | undefined {
  const kept = scope.split(' ').filter((name) => name !== '' && !INTERACTIVE_SCOPES.has(name));
  return kept.length === 0 ? undefined : kept.join(' ');
}
