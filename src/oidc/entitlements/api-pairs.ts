// What codes and tokens for an API record (decision 0026): the internal ids of the API and of its scopes, never the names, so
// that an API or scope that is created again under an old name revives nothing. The API is read at every use.

import { type Api, isOpenTo, machineScopes, mayGrant } from '../../apis/index.ts';
import { isMembers, isTexts, memberOf } from '../../json.ts';
import type { AccessTokenFormat, ApiClaim, ApiScopeRecord } from '../../store/apis.ts';
import type { ClientRecord } from '../../store/collections.ts';

/** How the request wrote the scopes; the response repeats it. */
export interface ScopeForm {
  /** `{identifier}` before each name; absent: plain names. */
  readonly prefix?: string;
  /** `.default` was requested. */
  readonly isDefault?: boolean;
}

export interface ApiPairs extends ScopeForm {
  readonly id: string;
  readonly scopeIds: readonly string[];
  /** The format of an access token; absent: `at+jwt`. */
  readonly format?: AccessTokenFormat;
  /** The claims about the user that its tokens may carry. */
  readonly claims?: readonly ApiClaim[];
}

const CLAIMS: readonly ApiClaim[] = ['profile', 'roles', 'groups'];

/** @returns what a code or token records about its API; undefined when it is for none */
export function pairsOf(artifact: object): ApiPairs | undefined {
  const pairs = memberOf(artifact, 'api');
  if (!isMembers(pairs)) return undefined;
  const { id, scopeIds, claims, format, prefix, isDefault } = pairs;
  if (typeof id !== 'string') return undefined;
  return {
    id,
    scopeIds: isTexts(scopeIds) ? scopeIds : [],
    claims: CLAIMS.filter((claim) => isTexts(claims) && claims.includes(claim)),
    ...((format === 'jwt' || format === 'opaque') && { format }),
    ...(typeof prefix === 'string' && { prefix }),
    ...(isDefault === true && { isDefault }),
  };
}

type Person = Parameters<typeof mayGrant>[1];

/**
 * @param user absent: the application asks for itself
 * @returns those of the scopes that the API has now and that client and user may have now
 */
export function liveScopes(
  { value }: Api,
  scopeIds: readonly string[],
  client: { readonly id: string; readonly record: ClientRecord },
  user?: Person,
): readonly ApiScopeRecord[] {
  if (user === undefined) return machineScopes(value, client.id).filter(({ id }) => scopeIds.includes(id));
  if (!isOpenTo(value, client.id, client.record)) return [];
  return value.scopes.filter((scope) => scopeIds.includes(scope.id) && mayGrant(scope, user));
}

export const scopeNames = (scopes: readonly ApiScopeRecord[]): string[] => scopes.map(({ name }) => name);

/**
 * @param agreed those that its token may carry
 * @returns the claims about the user that the API is declared with now
 */
export function apiClaims(
  account: { readonly username: string; readonly role: string; readonly groups?: readonly string[] },
  agreed: readonly ApiClaim[],
  { value }: Api,
): Record<string, unknown> {
  const has = (claim: ApiClaim): boolean => agreed.includes(claim) && value.claims.includes(claim);
  return {
    ...(has('profile') && { username: account.username, preferred_username: account.username }),
    ...(has('roles') && { role: account.role, roles: [account.role] }),
    ...(has('groups') && { groups: [...(account.groups ?? [])] }),
  };
}
