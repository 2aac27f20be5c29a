// The audit events of sign-ins: each failed password, each lock, and each sign-in that is complete, was stepped up,
// or needs a further step.
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';

export interface SignInReport {
  readonly kind: 'complete' | 'stepped_up' | 'password_accepted' | 'link_used';
  readonly accountId: string;
  /** The application; undefined in self-service, or before it is known. */
  readonly clientId?: string | undefined;
  /** All methods of the session (RFC 8176). */
  readonly amr: readonly string[];
  /** The methods of this sign-in. */
  readonly methods: readonly string[];
  /** The next required step. */
  readonly next?: string | undefined;
  /** Whether the same user was already signed in here. */
  readonly isAgain?: boolean | undefined;
  /** The session that begins with it, or goes on. */
  readonly sessionId?: string | undefined;
}

/** Awaited before a session is granted: a sign-in that cannot be recorded fails. */
export type ReportSignIn = (report: SignInReport) => Promise<void>;

const SIGN_IN_EVENTS = {
  complete: 'signin.success',
  stepped_up: 'signin.stepped_up',
  password_accepted: 'signin.password_accepted',
  link_used: 'magic_link.used',
} as const;

/**
 * Every way to sign in, at completion and at the steps before. A session that a second application uses without a
 * page is no sign-in: its tokens are recorded (`token.issued`), and the list of sessions names the application.
 */
export function createReportSignIn({ record }: Pick<Events, 'record'>): ReportSignIn {
  return async ({ kind, accountId, clientId, amr, methods, next, isAgain, sessionId }) => {
    const user = { kind: 'user', id: accountId } as const;
    const isComplete = kind === 'complete' || kind === 'stepped_up';
    await record({
      event: SIGN_IN_EVENTS[kind],
      // One factor of several does not yet identify the user.
      actor: isComplete ? user : { kind: 'anonymous' },
      target: user,
      clientId,
      sessionId,
      details: { amr, methods, ...(next !== undefined && { next }), ...(isAgain && { is_again: true }) },
    });
  };
}

export interface PasswordEventDeps {
  readonly events: Pick<Events, 'record' | 'note' | 'emit'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export interface SignInOutcome {
  readonly outcome: 'success' | 'unknown' | 'wrong' | 'locked' | 'inactive';
  readonly accountId?: string;
}

/** Of every password that was checked. A matching one is not yet a sign-in: see createReportSignIn. */
export async function recordOutcome(
  { events, log }: PasswordEventDeps,
  { outcome, accountId }: SignInOutcome,
): Promise<void> {
  log.info({ event: 'signin', outcome, ...(accountId !== undefined && { accountId }) }, 'sign-in attempt');
  if (outcome === 'success') return;
  const target = accountId === undefined ? {} : { target: { kind: 'user', id: accountId } as const };
  // The typed name is not recorded: users type passwords there by mistake.
  await events.record({ event: 'signin.failure', reason: outcome, ...target });
}

/** Once per lock. @param lock `isNoticeDue`: whether to notify the owner by mail. `lockedUntil` in epoch milliseconds */
export function reportLock(
  { events, log }: PasswordEventDeps,
  lock: { readonly accountId: string; readonly lockedUntil: number; readonly isNoticeDue: boolean },
): void {
  const { accountId, lockedUntil } = lock;
  log.warn(
    { event: 'account_locked', accountId, lockedUntil },
    'password sign-in closed for unknown browsers',
  );
  events.emit('accountLocked', lock);
  events.note({
    event: 'signin.locked',
    target: { kind: 'user', id: accountId },
    details: { locked_until: new Date(lockedUntil).toISOString() },
  });
}
