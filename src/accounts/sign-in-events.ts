// What is recorded of sign-ins: each failed password and lock, and each sign-in that is complete, raised, or has a further step
// before it.
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { AuthenticateDeps } from './authenticate.ts';

export interface SignInReport {
  readonly kind: 'complete' | 'stepped_up' | 'password_accepted' | 'link_used';
  readonly accountId: string;
  /** The application; none: self-service, or before there is one. */
  readonly clientId?: string | undefined;
  /** All that the session consists of (RFC 8176). */
  readonly amr: readonly string[];
  /** What was authenticated in this sign-in. */
  readonly methods: readonly string[];
  /** What is asked for next. */
  readonly next?: string | undefined;
  /** The same user was signed in here already. */
  readonly isAgain?: boolean | undefined;
}

/** Awaited before anything is given: a sign-in that cannot be recorded is none (checklist R150). */
export type ReportSignIn = (report: SignInReport) => Promise<void>;

const SIGN_IN_EVENTS = {
  complete: 'signin.success',
  stepped_up: 'signin.stepped_up',
  password_accepted: 'signin.password_accepted',
  link_used: 'magic_link.used',
} as const;

/**
 * Every way to sign in, when it is complete, and its steps before that. A session that is used at a second application
 * without a page is no sign-in: its tokens are recorded (`token.issued`), and the list of sessions names the application.
 */
export function createReportSignIn({ record }: Pick<Events, 'record'>): ReportSignIn {
  return async ({ kind, accountId, clientId, amr, methods, next, isAgain }) => {
    const user = { kind: 'user', id: accountId } as const;
    const isComplete = kind === 'complete' || kind === 'stepped_up';
    await record({
      event: SIGN_IN_EVENTS[kind],
      // Who has shown one factor of several is not known to be that user.
      actor: isComplete ? user : { kind: 'anonymous' },
      target: user,
      clientId,
      details: { amr, methods, ...(next !== undefined && { next }), ...(isAgain && { is_again: true }) },
    });
  };
}

interface Deps {
  readonly events: Pick<Events, 'record' | 'note' | 'emit'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Of the one password check behind every way to sign in with one (authenticate.ts). */
export function createPasswordEvents({
  events,
  log,
}: Deps): Required<Pick<AuthenticateDeps, 'onOutcome' | 'onLocked'>> {
  return {
    /** A password that matches is no sign-in yet: see createReportSignIn. */
    async onOutcome({ outcome, accountId }) {
      log.info(
        { event: 'signin', outcome, ...(accountId !== undefined && { accountId }) },
        'sign-in attempt',
      );
      if (outcome === 'success') return;
      const target = accountId === undefined ? {} : { target: { kind: 'user', id: accountId } as const };
      // What was typed as a name is not recorded: people type passwords there.
      await events.record({ event: 'signin.failure', reason: outcome, ...target });
    },
    onLocked({ accountId, lockedUntil, isNoticeDue }) {
      log.warn(
        { event: 'account_locked', accountId, lockedUntil },
        'password sign-in closed for unknown browsers',
      );
      events.emit('accountLocked', { accountId, lockedUntil, isNoticeDue });
      events.note({
        event: 'signin.locked',
        target: { kind: 'user', id: accountId },
        details: { locked_until: new Date(lockedUntil).toISOString() },
      });
    },
  };
}
