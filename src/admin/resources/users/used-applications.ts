// The applications that a user uses, derived from the grants of each sign-in.
import type { Session } from '../sessions/view.ts';
import type { Grant } from '../tokens/schema.ts';

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
 * @param grants the latest first
 * @param sessions the active ones
 */
export function applicationsOf(
  grants: readonly Grant[],
  sessions: readonly Session[],
): readonly UsedApplication[] {
  const sessionsOf = (id: string): number =>
    sessions.filter(({ clients }) => clients.some((client) => client.client_id === id)).length;
  const found = new Map<string, UsedApplication>();
  for (const grant of grants) {
    const id = grant.client_id ?? '';
    const known = found.get(id);
    found.set(id, {
      id,
      name: grant.client_name || id,
      scopes: [...new Set([...(known?.scopes ?? []), ...grant.scopes])],
      isFirstParty: grant.is_first_party,
      usedAt: known?.usedAt ?? grant.created_at,
      sessions: known?.sessions ?? sessionsOf(id),
    });
  }
  return [...found.values()];
}
