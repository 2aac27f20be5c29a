// Why a token or userinfo has a claim: for the preview, which shows tokens as the protocol core made them. These are words about
// its rules (src/oidc/entitlements/), never rules.
import { claimsByScope } from '../../../oidc/index.ts';

export type ClaimSource = 'scope' | 'protocol' | 'sign_in' | 'application' | 'api';

export interface ExplainedClaim {
  readonly name: string;
  readonly from: ClaimSource;
  /** Of `scope`: which one. */
  readonly scope: string | null;
}

const SIGN_IN = new Set(['auth_time', 'acr', 'amr', 'sid', 'session_state']);
/** For applications made for another provider (src/oidc/foreign-layout/keycloak-tokens.ts). */
const OF_KEYCLOAK = new Set(['typ', 'azp', 'realm_access', 'resource_access']);
/** What access tokens have of a scope beyond its claims (decision 0009). */
const IN_ACCESS_TOKENS: Readonly<Record<string, string>> = { username: 'profile', role: 'roles' };

const scopeOf = new Map<string, string>([
  ...Object.entries(claimsByScope).flatMap(([scope, names]) =>
    scope === 'openid' ? [] : names.map((name): [string, string] => [name, scope]),
  ),
  ...Object.entries(IN_ACCESS_TOKENS),
]);

function sourceOf(name: string, granted: readonly string[]): Omit<ExplainedClaim, 'name'> {
  const scope = scopeOf.get(name);
  if (scope !== undefined)
    return granted.includes(scope) ? { from: 'scope', scope } : { from: 'api', scope: null };
  if (SIGN_IN.has(name)) return { from: 'sign_in', scope: null };
  return { from: OF_KEYCLOAK.has(name) ? 'application' : 'protocol', scope: null };
}

export const explainedClaims = (payload: object, granted: readonly string[]): ExplainedClaim[] =>
  Object.keys(payload).map((name) => ({ name, ...sourceOf(name, granted) }));
