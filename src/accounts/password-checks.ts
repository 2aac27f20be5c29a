// The two use cases that check a password: a sign-in, and a signed-in user who confirms an act. Each charges the limits,
// checks and counts, records the outcome, and reports a lock, in the order of authenticate.ts.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { RateLimits, TurnPath } from '../rate-limits/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { type Authenticate, createAuthenticate } from './authenticate.ts';
import { createChargeGuess } from './guess-limits.ts';
import type { Passwords } from './passwords/password.ts';
import type { RefusalTime } from './passwords/refusal-time.ts';

interface Deps {
  readonly collection: Collection<AccountRecord>;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly passwords: Passwords;
  readonly whoAsks: () => TurnPath;
  readonly refusalTime: RefusalTime;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Events;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Whether its owner can sign in without a password. */
function hasOtherWayIn(
  { passkeys = [], email, isEmailVerified }: AccountRecord,
  { auth_mode: mode, allow_password_reset: canReset, allow_magic_link: canUseLinks }: SettingValues,
): boolean {
  const hasMailbox = email !== undefined && isEmailVerified;
  return (mode !== 'password' && passkeys.length > 0) || (hasMailbox && (canReset || canUseLinks));
}

export function createPasswordChecks(deps: Deps): {
  /** A sign-in. @returns undefined in passkey-only mode, where no path accepts a password */
  readonly authenticate: Authenticate;
  /** For a signed-in user: counted and locked like a sign-in, but not logged as one. */
  readonly checkPassword: Authenticate;
} {
  const { settings, refusalTime, limits, events } = deps;
  const common = {
    ...deps,
    chargeGuess: createChargeGuess({ limits, address: events.origins.countedAs }),
    refusals: refusalTime,
    hasOtherWayIn: (record: AccountRecord) => hasOtherWayIn(record, settings()),
  };
  const signIn = createAuthenticate({ ...common, isSignIn: true });
  return {
    authenticate: async (...given) =>
      settings().auth_mode === 'passkey_only' ? undefined : signIn(...given),
    checkPassword: createAuthenticate({ ...common, isSignIn: false }),
  };
}
