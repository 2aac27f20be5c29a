// Answers "can they sign in, and why did it fail" from a user's state and the last failure.
import type { User } from '../../../accounts/index.ts';
import type { AuditEvent } from '../audit/resource.ts';

export interface Verdict {
  readonly canSignIn: boolean;
  /** Blocked only in unknown browsers, and only for password sign-ins. */
  readonly isElsewhere?: boolean;
  /** Their account is to be deleted, as they asked. */
  readonly isLeaving?: boolean;
  readonly text: string;
  /** The act on the user's page that fixes it. */
  readonly remedy?: 'unlock' | 'reactivate';
}

/** @param otherWays besides a password: passkeys, and mailed links where they sign in */
export function verdictOn(user: User, failure: AuditEvent | undefined, otherWays: number): Verdict {
  if (!user.is_active)
    return { canSignIn: false, text: 'An administrator deactivated this account.', remedy: 'reactivate' };
  if (user.deletion_due_at !== null) {
    const text = 'They asked for it themselves. Until then they can sign in only to undo it.';
    return { canSignIn: false, isLeaving: true, text };
  }
  if (user.locked_until !== null) {
    const count = user.failed_login_attempts;
    const text = `Locked after ${count} wrong ${count === 1 ? 'password' : 'passwords'} in a row. Browsers in which they signed in before, passkeys and mailed links still work.`;
    return { canSignIn: false, isElsewhere: true, text, remedy: 'unlock' };
  }
  // Whoever has signed in before has some way, although no record says when its password was set.
  const hasWay = otherWays > 0 || user.password_changed_at !== null || user.last_login_at !== null;
  if (!hasWay)
    return { canSignIn: false, text: 'There is neither a password nor a passkey yet: send a set-up link.' };
  const isNewer = failure !== undefined && failure.at > (user.last_login_at ?? '');
  const text = isNewer ? 'The account is fine; the last attempt was not.' : 'Nothing stands in the way.';
  return { canSignIn: true, text };
}
