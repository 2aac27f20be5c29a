// Runs a route for a caller: checks access, validates the input, runs the implementation, and records it in the audit log.
// The REST API and the Admin UI both use this path, so that neither can do what the other cannot.
import { AppError } from '../../errors.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Actor } from './ports.ts';
import type { Answer, RawInput, Route } from './route.ts';

/**
 * A caller with read-only access changes nothing, and does not read what would give more access.
 * @throws AppError auth.insufficient_scope
 */
export function requireAccess({ method, needs }: Pick<Route, 'method' | 'needs'>, { access }: Actor): void {
  if (access !== 'all' && (method !== 'GET' || needs === 'admin'))
    throw new AppError('auth.insufficient_scope');
}

/** Whether the caller may do and read what is sensitive now: programs cannot authenticate again. */
export const isFreshOrProgram = async ({ kind, isFresh }: Actor): Promise<boolean> =>
  kind !== 'user' || (await isFresh?.()) === true;

/**
 * Depends only on the table of acts, not on the page or program that calls it.
 * @throws AppError auth.stale
 */
export async function requireFresh(
  { sensitivity }: Pick<Route, 'sensitivity'>,
  input: Pick<RawInput, 'query' | 'body' | 'actor'>,
): Promise<void> {
  const isSensitive = typeof sensitivity === 'string' ? sensitivity === 'sensitive' : sensitivity.is(input);
  if (isSensitive && !(await isFreshOrProgram(input.actor))) throw new AppError('auth.stale');
}

/** @throws AppError as requireAccess, requireFresh and the route do, StoreUnavailable when the audit event cannot be stored */
export type Perform = (route: Route, input: RawInput) => Promise<Answer<unknown> | undefined>;

export const createPerform =
  (auditTrail: AuditTrail): Perform =>
  async (route, input) => {
    requireAccess(route, input.actor);
    await requireFresh(route, input);
    const isWrittenDown = route.method !== 'GET' && route.isDryRun?.(input) !== true;
    const writeDown = isWrittenDown ? auditTrail(route, input) : undefined;
    const answer = await route.run(input);
    // Before the response: a lost audit event gives a 503 although the change is done (src/audit/audit.ts).
    await writeDown?.(answer);
    return answer;
  };
