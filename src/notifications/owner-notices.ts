// Owns when the owner of an account is told by mail of what others did to it: guesses of the password (decisions §8), a
// password or second factor that an administrator replaced. A notice that cannot be queued undoes and delays nothing.
import type { Account, Accounts } from '../accounts/index.ts';
import { hasSecondFactor } from '../accounts/security-state.ts';
import type { Clock } from '../clock.ts';
import type { Events, Signals } from '../events/index.ts';
import { deviceName } from '../http/device-name.ts';
import type { Logger } from '../log.ts';
import type { MailTemplate, MailValues } from '../mail/index.ts';

interface Deps {
  /** Whoever has no verified address gets none. */
  readonly tellOwner: (
    account: Account,
    template: MailTemplate,
    values: MailValues,
    language: string | undefined,
  ) => Promise<void>;
  readonly find: Accounts['find'];
  readonly revokeDevices: (accountId: string) => Promise<unknown>;
  readonly events: Pick<Events, 'on' | 'origins'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

export function subscribeNotices({ tellOwner, find, revokeDevices, events, clock, log }: Deps) {
  async function tell(account: Account, template: MailTemplate, values: MailValues = {}): Promise<void> {
    try {
      await tellOwner(account, template, values, account.profile.locale);
    } catch (error) {
      log.warn({ event: 'notice_lost', template, account_id: account.id, err: error }, 'notice not queued');
    }
  }

  async function tellLock({ accountId, lockedUntil }: Signals['accountLocked']): Promise<void> {
    const account = await find(accountId);
    // Of the attempt that locked it.
    const { ipAddress = '', userAgent = '' } = events.origins.current() ?? {};
    const lockedSeconds = Math.round((lockedUntil - clock()) / 1000);
    const values = { lockedSeconds, ipAddress, device: deviceName(userAgent) };
    if (account !== undefined) await tell(account, 'account_locked', values);
  }

  // Not in the course of the attempt: the one that locks must take no longer than any other (R085).
  events.on('accountLocked', (lock) => {
    if (!lock.isNoticeDue) return;
    setImmediate(() => {
      tellLock(lock).catch((error: unknown) => {
        log.warn({ event: 'notice_lost', account_id: lock.accountId, err: error }, 'notice not queued');
      });
    });
  });

  /** At the address from before the change. */
  events.on(
    'accountChangedByAdmin',
    async ({ before, after, isPasswordChanged, isSecondFactorReset: isReset }) => {
      const isMoved = before.emailKey !== after.emailKey;
      // They are void already (security-state.ts); this takes them out of the store.
      if (isReset || isMoved) await revokeDevices(after.id);
      if (isMoved) await tell(before, 'email_changed');
      if (isReset && hasSecondFactor(before)) await tell(before, 'second_factor_reset');
      if (isPasswordChanged) await tell(before, 'password_changed');
    },
  );
}
