// The applications that a user uses, derived from the grants of each sign-in.
import { textOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

export interface UsedApplication {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Whether the application skips consent. */
  readonly isFirstParty: boolean;
  /** RFC 3339: time of the latest grant. */
  readonly usedAt: string;
  /** How many active sessions include it. */
  readonly sessions: number;
}

/**
 * @param grants as GET /users/{id}/grants returns them, the latest first
 * @param sessions the active ones
 */
export function applicationsOf(
  grants: readonly Values[],
  sessions: readonly Values[],
): readonly UsedApplication[] {
  const sessionsOf = (id: string): number =>
    sessions.filter(
      ({ clients }) => Array.isArray(clients) && clients.some((client) => textOf(client, 'client_id') === id),
    ).length;
  const found = new Map<string, UsedApplication>();
  for (const grant of grants) {
    const id = textOf(grant, 'client_id');
    const known = found.get(id);
    const scopes = Array.isArray(grant.scopes) ? grant.scopes.map(String) : [];
    found.set(id, {
      id,
      name: textOf(grant, 'client_name') || id,
      scopes: [...new Set([...(known?.scopes ?? []), ...scopes])],
      isFirstParty: grant.is_first_party === true,
      usedAt: known?.usedAt ?? textOf(grant, 'created_at'),
      sessions: known?.sessions ?? sessionsOf(id),
    });
  }
  return [...found.values()];
}
