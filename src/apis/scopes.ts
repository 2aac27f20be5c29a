// The scopes that an API declares: their names, and who may have them (decision 0026).

import { newId } from '../ids.ts';
import { type ApiScope, scopeNamePattern } from '../model/apis/kinds.ts';
import { openScopes } from '../model/applications/vocabulary.ts';
import { ours } from '../phrase.ts';
import type { ApiRecord, ApiScopeRecord } from '../store/apis.ts';
import { isBlank, printableText } from '../untrusted-text.ts';

const isName = new RegExp(scopeNamePattern);
const MAX_DESCRIPTION = 300;
/** Their meaning is fixed by OIDC Core §5.4 and by this server. */
const reserved: ReadonlySet<string> = new Set(openScopes);

function nameProblem(name: string): string | undefined {
  if (!isName.test(name)) {
    return 'must be 1 to 100 of letters, digits, “_”, “:”, “-” and “.”, not beginning with “.”';
  }
  if (reserved.has(name)) return `is the name of a scope of OpenID Connect (${name})`;
  const folded = name.toLowerCase();
  if (folded.startsWith('account'))
    return 'must not begin with “account”: such scopes are those of this server';
  return folded.startsWith('admin')
    ? 'must not begin with “admin”: such scopes are those of this server'
    : undefined;
}

function descriptionProblem(text: string): string | undefined {
  if (isBlank(text)) return 'needs a description: the consent page shows it';
  return text.length > MAX_DESCRIPTION || printableText(text, MAX_DESCRIPTION) !== text
    ? `must have a description in one line of at most ${MAX_DESCRIPTION} characters`
    : undefined;
}

/**
 * @param before those that the API has: a name from before a rule stays
 * @returns what is wrong with the list, or undefined
 */
export function scopesProblem(
  scopes: readonly ApiScope[],
  before: readonly Pick<ApiScopeRecord, 'name'>[] = [],
): string | undefined {
  const seen = new Set<string>();
  const known = new Set(before.map(({ name }) => name));
  for (const [at, { name, description }] of scopes.entries()) {
    const twice = seen.has(name) ? 'has the name of another entry' : undefined;
    const unusable = known.has(name) ? undefined : nameProblem(name);
    const problem = unusable ?? descriptionProblem(description) ?? twice;
    if (problem !== undefined) return `Entry ${at + 1} ${ours(problem)}.`;
    seen.add(name);
  }
  return undefined;
}

const sorted = <T extends string>(names: readonly T[]): T[] => [...new Set(names)].sort();

/** @returns the scopes to store: those whose name stays keep their id */
export const withIds = (scopes: readonly ApiScope[], before: readonly ApiScopeRecord[]): ApiScopeRecord[] =>
  scopes.map(({ name, description, is_default: isDefault = false, roles = [], groups = [] }) => ({
    id: before.find((one) => one.name === name)?.id ?? newId(),
    name,
    description: description.trim(),
    isDefault,
    ...(roles.length > 0 && { roles: sorted(roles) }),
    ...(groups.length > 0 && { groups: sorted(groups) }),
  }));

/** @returns whether that user may have the scope; one of its roles or groups is enough */
export function mayGrant(
  { roles, groups }: Pick<ApiScopeRecord, 'roles' | 'groups'>,
  user: { readonly role: string; readonly groups?: readonly string[] | undefined },
): boolean {
  if (roles === undefined && groups === undefined) return true;
  const isInGroup = user.groups?.some((group) => groups?.includes(group) === true) === true;
  return isInGroup || roles?.some((role) => role === user.role) === true;
}

/** @returns the scopes that the application gets for itself; without an entry none, default scopes included */
export function machineScopes(
  { scopes, machineGrants }: Pick<ApiRecord, 'scopes' | 'machineGrants'>,
  clientId: string,
): readonly ApiScopeRecord[] {
  const granted = machineGrants.find((one) => one.clientId === clientId)?.scopeIds ?? [];
  return scopes.filter(({ id }) => granted.includes(id));
}
