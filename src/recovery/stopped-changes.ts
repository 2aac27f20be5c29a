// A change of address that its former mailbox stops, and how that is settled (decision 0038). Stopping trusts no mailbox: an added
// address goes, a moved primary one waits for the owner, who keeps one of the two; what rests on the change is void, and everything
// is signed out. Going back is for any sign-in by the ways of before. Keeping wants their highest class and a day, in which an
// owner who is slower than a thief goes back or asks an administrator, who can do either.
import { type Account, addressChangeOf, addressKey, ownAddress } from '../accounts/index.ts';
import { isAhead } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { MethodTimes } from '../sessions/index.ts';
import type { EmailChangeRecord } from '../store/collections.ts';
import type { RecoveryDoors } from './doors.ts';
import type { EmailRequests } from './email-requests.ts';
import type { EmailChange, StoppedEmailChange } from './own-emails.ts';

const DAY_MS = 86_400_000;

export const changeOf = ({ accountId, from, to, createdAt, isAddition }: EmailChangeRecord): EmailChange => ({
  accountId,
  from,
  to,
  changedAt: createdAt,
  isAddition: isAddition === true,
});

/** Where the address is the username too, one follows the other (src/model/users/username.ts). */
export const movedTo = (account: Account, email: string) => ({
  email,
  is_email_verified: true,
  ...(account.usernameKey === account.emailKey && { username: email }),
});

export const isAt = (account: Account, address: string): boolean => account.emailKey === addressKey(address);

export function createStoppedChanges(
  doors: RecoveryDoors,
  requests: EmailRequests,
  /** What waits for a link of a mail. */
  forgetPending: (account: Account) => Promise<void>,
) {
  const { accounts, passkeys, secondFactors, events, clock } = doors;

  /** What of it a stop would undo now: it counts as long as the primary address is another, or the added one is there. */
  function standing(record: EmailChangeRecord, account: Account): 'change' | 'addition' | undefined {
    const change = addressChangeOf(account, clock());
    const from = change?.from ?? record.from ?? '';
    const isThere = record.isAddition === true && ownAddress(account, record.to) !== undefined;
    // An administrator decided on the primary one.
    if (change === undefined && isThere && !isAt(account, record.to)) return 'addition';
    if (account.email !== undefined && !isAt(account, from)) return 'change';
    return isThere ? 'addition' : undefined;
  }

  async function of(account: Account): Promise<StoppedEmailChange | undefined> {
    const record = await requests.findStopped(account.id);
    if (record === undefined || !isAt(account, record.to)) return undefined;
    // Of one that was stopped under an earlier version, only when the change began.
    const { stoppedAt = record.stoppedAt ?? record.createdAt } = addressChangeOf(account, clock()) ?? {};
    const [now, keepFrom] = [clock(), stoppedAt + DAY_MS];
    return {
      ...changeOf(record),
      keepFrom: isAhead(keepFrom, now, DAY_MS) ? keepFrom : Math.min(keepFrom, now),
    };
  }

  /** Everything that someone with one of the addresses may have begun. */
  async function signOutEverywhere({ id }: Account): Promise<void> {
    await accounts.voidSignInsInProgress(id);
    await accounts.endSessionsAsAdmin(id);
    await secondFactors.trustedDevices.revokeAll(id);
  }

  /** @throws AppError account.changed: nothing counts of it yet */
  async function stop(record: EmailChangeRecord, account: Account) {
    const what = standing(record, account);
    if (what === undefined) return undefined;
    const { from = record.from, beganAt: since = record.createdAt } = addressChangeOf(account, clock()) ?? {};
    const made = new Map((await passkeys.list(account)).map(({ id, createdAt }) => [id, createdAt]));
    const isMoved = what === 'change';
    // First: a stop without a record of it would leave nothing to settle.
    if (isMoved) await requests.keepStopped(account, { ...record, ...(from && { from }), createdAt: since });
    await accounts.stopAddressChange(account, {
      isMoved,
      added: isMoved ? undefined : record.to,
      since,
      from,
      isPasskeyNew: (id) => (made.get(id) ?? 0) >= since,
    });
    await forgetPending(account);
    await signOutEverywhere(account);
    await events.emitAndWait('addressChangeStopped', { accountId: account.id, since });
    const event = isMoved ? 'email.change_stopped' : 'email.addition_stopped';
    await events.record({ event, target: { kind: 'user', id: account.id } });
    return what;
  }

  /** @returns the addresses that were and are */
  async function decide(account: Account, stopped: EmailChange, choice: 'keep' | 'undo'): Promise<void> {
    const { from, to } = stopped;
    if (from === undefined) throw new AppError('request.not_found');
    // Whoever moved the account may have added the others as well.
    const changes =
      choice === 'keep' ? movedTo(account, to) : { ...movedTo(account, from), other_emails: [] };
    const options = { version: account.version, isSettled: true };
    const changed = await accounts.changeOwnAccount(account.id, changes, options);
    await requests.forgetDecided(changed);
    // To both, whoever decided: whose mailbox lost finds out before the account is used.
    await Promise.all([from, to].map((address) => requests.tellSettled(address, account, choice)));
  }

  return {
    standing,
    of,
    isStopped: async (account: Account): Promise<boolean> => (await of(account)) !== undefined,
    stop,

    async settle(account: Account, choice: 'keep' | 'undo', times: MethodTimes): Promise<void> {
      const stopped = await of(account);
      if (stopped === undefined) throw new AppError('request.not_found');
      if (choice === 'keep') {
        if (clock() < stopped.keepFrom) throw new AppError('account.email_keep_waits');
        if (!accounts.isByOldWays(account, times)) throw new AppError('auth.stale');
      }
      await decide(account, stopped, choice);
      const details = { is_kept: choice === 'keep' };
      await events.record({ event: 'email.change_settled', owner: account.id, details });
    },

    async settleAsAdmin(account: Account, choice: 'keep' | 'undo'): Promise<void> {
      const stopped = await of(account);
      if (stopped === undefined) throw new AppError('account.no_stopped_change');
      await decide(account, stopped, choice);
    },
  };
}
