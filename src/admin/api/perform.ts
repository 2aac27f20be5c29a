// Doing what a route says on behalf of somebody: whether they may, the check of what came in, the act, and its line
// in the audit log.
// The REST API and the administrator's pages both come this way, so that neither can do what the other cannot.
import { AppError } from '../../errors.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Actor } from './ports.ts';
import type { Answer, RawInput, Route } from './route.ts';

/**
 * Who is here for reading alone changes nothing, and does not read what opens more.
 * @throws AppError auth.insufficient_scope
 */
export function requireAccess({ method, needs }: Pick<Route, 'method' | 'needs'>, { access }: Actor): void {
  if (access !== 'all' && (method !== 'GET' || needs === 'admin'))
    throw new AppError('auth.insufficient_scope');
}

/**
 * By the declaration of the route alone, whichever page or program asks.
 * @throws AppError auth.stale
 */
export async function requireFresh(
  { sensitivity }: Pick<Route, 'sensitivity'>,
  input: Pick<RawInput, 'query' | 'body' | 'actor'>,
): Promise<void> {
  const isSensitive = typeof sensitivity === 'string' ? sensitivity === 'sensitive' : sensitivity.is(input);
  const { kind, isFresh } = input.actor;
  if (isSensitive && kind === 'user' && (await isFresh?.()) !== true) throw new AppError('auth.stale');
}

/** @throws AppError as requireAccess, requireFresh and as the route do, StoreUnavailable when the act cannot be written down */
export type Perform = (route: Route, input: RawInput) => Promise<Answer<unknown> | undefined>;

export const createPerform =
  (auditTrail: AuditTrail): Perform =>
  async (route, input) => {
    requireAccess(route, input.actor);
    await requireFresh(route, input);
    const isWrittenDown = route.method !== 'GET' && route.isTrial?.(input) !== true;
    const writeDown = isWrittenDown ? await auditTrail(route, input) : undefined;
    const answer = await route.run(input);
    // Before the answer: an act that cannot be written down is answered 503, though it is done (src/audit/audit.ts).
    await writeDown?.(answer);
    return answer;
  };
