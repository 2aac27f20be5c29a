// An account's addresses, as its owner changes them. A new one counts when a link sent to it was used, by someone who is
// signed in to the account: before, nothing is reserved, and a link alone gives an address to no account.
// It is one more address, or the primary one where none is verified; the owner makes another the primary
// one. The primary address before is told of both, with a link that stops it for a week. Stopping trusts no mailbox: an
// added address goes, a moved primary one waits for the owner, who keeps one of the two; everything is signed out.
import {
  type Account,
  addressKey,
  isDomainWelcome,
  ownAddress,
  parseEmail,
  securityState,
} from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import { MAX_OTHER_EMAILS } from '../model/users/kinds.ts';
import { keyFor } from '../rate-limits/index.ts';
import type { MethodTimes } from '../sessions/index.ts';
import type { RecoveryDoors } from './doors.ts';
import type { EmailRequests } from './email-requests.ts';
import type { Links } from './links.ts';
import type { EmailChanges } from './own-emails.ts';
import { changeOf, createStoppedChanges, isAt, movedTo } from './stopped-changes.ts';

const WEEK_MS = 7 * 86_400_000;

const others = ({ otherEmails = [] }: Account): string[] => otherEmails.map(({ address }) => address);
const without = (account: Account, address: string): string[] =>
  others(account).filter((other) => addressKey(other) !== addressKey(address));
const hasPrimary = (account: Account): boolean => account.email !== undefined && account.isEmailVerified;

export function createEmailChanges(
  doors: RecoveryDoors,
  links: Links,
  requests: EmailRequests,
): EmailChanges {
  const { settings, accounts, secondFactors, limits, events } = doors;
  const stops = createStoppedChanges(doors, requests, forgetPending);

  async function findCurrent(token: string, act: 'confirm' | 'stop') {
    const record = await requests.find(token, act);
    const account = record && (await accounts.find(record.accountId));
    if (record === undefined || account === undefined) return undefined;
    if (act === 'confirm') {
      // A password, factor or primary address that changed since voids the request.
      const isCurrent = record.securityState === securityState(account.id, account);
      return isCurrent ? { record, account, isMoved: !hasPrimary(account) } : undefined;
    }
    const what = stops.standing(record, account);
    return what && { record, account, isMoved: what === 'change' };
  }

  /** As at sign-up: who may not come with an address may not bring it in afterwards, nor get what is given by its domain. */
  function refuseDomain(address: string): void {
    if (!isDomainWelcome(address, settings())) throw new AppError('account.email_domain');
  }

  async function refuseWhenStopped(account: Account): Promise<void> {
    if (await stops.isStopped(account)) throw new AppError('account.email_frozen');
  }

  async function forgetPending(account: Account): Promise<void> {
    await requests.forget(account);
    await links.removeAllOf(account.id);
  }

  /**
   * Tells the primary address of what is about to happen. First: a change without a way back must not be there, a way back
   * without a change does nothing.
   */
  async function prepareStop(account: Account, to: string, isAddition: boolean) {
    const { email } = account;
    if (email === undefined || !account.isEmailVerified) return undefined;
    const link = await requests.keep('stop', account, { to, isAddition }, WEEK_MS);
    const template = isAddition ? 'email_added' : 'email_change_stop';
    return () => requests.send(email, template, account, link);
  }

  async function move(account: Account, email: string, otherEmails: readonly string[]): Promise<Account> {
    const tell = await prepareStop(account, email, false);
    const changes = { ...movedTo(account, email), other_emails: otherEmails };
    const options = { version: account.version, isStoppable: tell !== undefined };
    const changed = await accounts.changeOwnAccount(account.id, changes, options);
    await secondFactors.trustedDevices.revokeAll(account.id);
    await events.record({ event: 'email.changed', owner: account.id, details: { is_own: true } });
    await tell?.();
    return changed;
  }

  async function add(account: Account, address: string, times: MethodTimes): Promise<void> {
    // Of several that waited for their links, those that came first.
    if (others(account).length >= MAX_OTHER_EMAILS) throw new AppError('account.too_many_emails');
    const tell = await prepareStop(account, address, true);
    const other_emails = [...others(account), address];
    const options = {
      version: account.version,
      isStoppable: tell !== undefined,
      isByOldWays: accounts.isByOldWays(account, times),
    };
    await accounts.changeOwnAccount(account.id, { other_emails }, options);
    await events.record({ event: 'email.added', owner: account.id });
    await tell?.();
  }

  return {
    async request(account, address) {
      const email = parseEmail(address);
      if (email === undefined) throw invalid({ email: 'Must be an e-mail address.' });
      if (ownAddress(account, address) !== undefined)
        throw invalid({ email: 'This is your address already.' });
      refuseDomain(email.address);
      await refuseWhenStopped(account);
      if (!requests.canSend()) throw new AppError('mail.off');
      const waiting = (await requests.pendingOf(account)).filter((one) => addressKey(one) !== email.key);
      const inUse = others(account).length + waiting.length;
      if (inUse >= MAX_OTHER_EMAILS) throw new AppError('account.too_many_emails');
      // The second, or an account would be a way to send mail to any number of strangers. The first is the requester's: it must
      // not use up what the owner of that mailbox may ask for.
      const { ipAddress = '' } = events.origins.current() ?? {};
      await limits.consume('mail_requester_ip', keyFor(`addition of ${email.key}`, ipAddress));
      await limits.consume('mail_acts', `changes of ${account.id}`);
      await events.record({ event: 'email.change_requested', owner: account.id });
      const lifetime = settings().email_verification_link_seconds * 1000;
      // Also for one that is taken, whose link nobody gets: what the owner sees then is the same.
      const link = await requests.keep('confirm', account, { to: email.address }, lifetime);
      const holder = await accounts.findByAddress(email.address);
      const isTaken = holder !== undefined && holder.id !== account.id;
      await (isTaken
        ? requests.send(email.address, 'email_change_known', account)
        : requests.send(email.address, 'email_change', account, link));
    },

    async stateOf(account) {
      const pending = await requests.pendingOf(account);
      const canAdd = others(account).length + pending.length < MAX_OTHER_EMAILS;
      return { others: others(account), pending, stopped: await stops.of(account), canAdd };
    },

    isStopped: stops.isStopped,

    async find(token, act) {
      const found = await findCurrent(token, act);
      return found && { ...changeOf(found.record), isAddition: !found.isMoved };
    },

    async confirm({ id: accountId }, token, times) {
      const found = await findCurrent(token, 'confirm');
      // A link of another account: its address would come into this one, or this one's into the other.
      if (found === undefined || found.record.accountId !== accountId) return undefined;
      const { account, record, isMoved } = found;
      await refuseWhenStopped(account);
      // The lists may be others by now.
      refuseDomain(record.to);
      if (!(await requests.take(token))) return undefined;
      // An earlier link to the same address counted until now.
      await requests.forget(account, record.to);
      const holder = await accounts.findByAddress(record.to);
      if (holder !== undefined && holder.id !== accountId) throw new AppError('account.email_taken');
      if (isMoved) await move(account, record.to, others(account));
      else await add(account, record.to, times);
      return isMoved ? 'moved' : 'added';
    },

    async makePrimary(account, address) {
      await refuseWhenStopped(account);
      const own = ownAddress(account, address);
      if (own === undefined || account.email === undefined || isAt(account, own))
        throw new AppError('request.not_found');
      // Each is a mail to the one before: moved to and fro, their links would be lost among them.
      await limits.consume('mail_acts', `primary of ${account.id}`);
      return move(account, own, [...without(account, own), account.email]);
    },

    async remove(account, address) {
      await refuseWhenStopped(account);
      if (await requests.forget(account, address)) return false;
      const other_emails = without(account, address);
      if (other_emails.length === others(account).length) throw new AppError('request.not_found');
      await accounts.changeOwnAccount(account.id, { other_emails }, { version: account.version });
      // The owner is told at the primary address (src/notifications).
      await events.record({ event: 'email.removed', owner: account.id });
      return true;
    },

    forgetPending,

    async stop(token) {
      const found = await findCurrent(token, 'stop');
      if (found === undefined) return undefined;
      for (;;) {
        const account = await accounts.find(found.account.id);
        try {
          const stopped = account && (await stops.stop(found.record, account));
          // Last: a stop that a crash cut short is pressed again.
          await requests.take(token);
          return stopped;
        } catch (error) {
          // Someone goes on changing addresses: what is stopped is what is there now.
          if (!(error instanceof AppError) || error.code !== 'account.changed') throw error;
        }
      }
    },

    settle: stops.settle,
    settleAsAdmin: stops.settleAsAdmin,
  };
}
