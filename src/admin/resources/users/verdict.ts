// Answers "can they sign in, and why did it fail" from a user's state and the last failure.
import type { AuditEvent } from '../audit/resource.ts';
import type { User } from './schema.ts';

export interface Verdict {
  readonly canSignIn: boolean;
  /** Blocked only in unknown browsers, and only for password sign-ins. */
  readonly isElsewhere?: boolean;
  readonly text: string;
  /** The act on the user's page that fixes it. */
  readonly remedy?: 'unlock' | 'reactivate';
}

export function verdictOn(user: User, failure: AuditEvent | undefined): Verdict {
  if (!user.is_active)
    return { canSignIn: false, text: 'An administrator deactivated this account.', remedy: 'reactivate' };
  if (user.deletion_due_at !== null)
    return {
      canSignIn: false,
      text: 'They asked for their account to be deleted. Only they can undo that, by signing in.',
    };
  if (user.locked_until !== null) {
    const count = user.failed_login_attempts;
    const text = `Locked after ${count} wrong ${count === 1 ? 'password' : 'passwords'} in a row. Browsers in which they signed in before, passkeys and mailed links still work.`;
    return { canSignIn: false, isElsewhere: true, text, remedy: 'unlock' };
  }
  const isNewer = failure !== undefined && failure.at > (user.last_login_at ?? '');
  const text = isNewer ? 'The account is fine; the last attempt was not.' : 'Nothing stands in the way.';
  return { canSignIn: true, text };
}
