// Changes of an e-mail address by its owner. A new address counts when a link sent to it was used, by someone who is
// signed in to the account: before, nothing is reserved, and a link alone gives an address to no account (checklist
// R072, R129). The old address is told, with a link that stops the change for a week. Stopping trusts neither address:
// it ends everything that is signed in and waits for the owner, who then keeps one of the two.
import { type Account, type Accounts, addressKey, parseEmail, securityState } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Events } from '../events/index.ts';
import { newSecret, secretDigest } from '../ids.ts';
import { type Mail, readerValues, requestValues } from '../mail/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { EmailChangeRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';

type Act = EmailChangeRecord['act'];

export interface EmailChange {
  readonly accountId: string;
  readonly from?: string | undefined;
  readonly to: string;
  /** Epoch milliseconds. */
  readonly changedAt: number;
}

export interface EmailChanges {
  /**
   * Sends a link to the new address; an earlier one stops working. The answer does not tell whose address it is.
   * @throws AppError request.invalid, request.rate_limited, account.email_frozen
   */
  request(account: Account, address: string): Promise<void>;
  /** What waits for a link to be used, and what was stopped and waits for its owner. */
  stateOf(account: Account): Promise<{ pending?: string | undefined; stopped?: EmailChange | undefined }>;
  /** @returns undefined for any token that does not count now, whatever the reason */
  find(token: string, act: 'confirm' | 'stop'): Promise<EmailChange | undefined>;
  /**
   * Ends every session of the account.
   * @returns whether it was a link of this account. @throws AppError account.email_taken, account.changed
   */
  confirm(account: Account, token: string): Promise<boolean>;
  /** By whoever has the old mailbox: signs nobody in. @returns whether the link was valid */
  stop(token: string): Promise<boolean>;
  /** By the owner, after a stop. @throws AppError request.not_found, account.email_taken */
  settle(account: Account, choice: 'keep' | 'undo'): Promise<void>;
}

interface Deps {
  readonly collection: EphemeralCollection<EmailChangeRecord>;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly accounts: Pick<
    Accounts,
    'find' | 'findUsable' | 'query' | 'changeOwnAccount' | 'endSessionsAsAdmin' | 'voidSignInsInProgress'
  >;
  readonly mail: Pick<Mail, 'queue'>;
  readonly secondFactors: Pick<SecondFactors, 'trustedDevices'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'record' | 'on' | 'origins'>;
}

const WEEK_MS = 7 * 86_400_000;
const TOKEN_LENGTH = newSecret().length;

const stoppedId = (accountId: string): string => `stopped ${accountId}`;

export function createEmailChanges(deps: Deps): EmailChanges {
  const { collection, baseUrl, clock, settings, accounts, mail, secondFactors, limits, events } = deps;
  events.on('accountRemoving', ({ accountId }) => collection.removeBy('account', accountId));

  const userOf = (id: string) => ({ kind: 'user', id }) as const;
  const changeOf = ({ accountId, from, to, createdAt }: EmailChangeRecord): EmailChange => ({
    accountId,
    from,
    to,
    changedAt: createdAt,
  });

  /** Where the address is the username too, one follows the other (src/accounts/username.ts). */
  const movedTo = (account: Account, email: string) => ({
    email,
    isEmailVerified: true,
    ...(account.usernameKey === account.emailKey && { username: email }),
  });

  const isAt = (account: Account, address: string): boolean => account.emailKey === addressKey(address);

  async function findCurrent(token: string, act: Act) {
    if (token.length !== TOKEN_LENGTH) return undefined;
    const id = secretDigest(token);
    const record = (await collection.find(id))?.value;
    if (record === undefined || record.act !== act) return undefined;
    const account = await accounts.find(record.accountId);
    // A password, factor or address that changed since voids the request. A stop counts as long as the address is another,
    // however often it was changed since.
    const isCurrent =
      account !== undefined &&
      (act === 'confirm'
        ? record.securityState === securityState(account.id, account)
        : account.email !== undefined && !isAt(account, record.from ?? ''));
    return isCurrent ? { id, record, account } : undefined;
  }

  async function findStopped(account: Account): Promise<EmailChange | undefined> {
    const record = (await collection.find(stoppedId(account.id)))?.value;
    return record !== undefined && isAt(account, record.to) ? changeOf(record) : undefined;
  }

  async function isOfAnother(account: Account, key: string): Promise<boolean> {
    const filters = [{ field: 'email', op: 'eq', value: key } as const];
    const { items } = await accounts.query({ filters, sort: 'id', order: 'asc', limit: 1 });
    return items.some(({ id }) => id !== account.id);
  }

  async function send(
    to: string,
    template: 'email_change' | 'email_change_known' | 'email_change_stop',
    account: Account,
    link?: { readonly url: string; readonly expiresAt: number },
  ): Promise<void> {
    const { values, language } = requestValues(events.origins.current(), clock());
    const linked = link && { url: link.url, expiresSeconds: Math.round((link.expiresAt - clock()) / 1000) };
    // Who has an account with that address does not learn of the account that wants it.
    const owner = template === 'email_change_known' ? {} : readerValues(account);
    await mail.queue({
      to,
      template,
      language: account.profile.locale ?? language,
      values: { ...values, ...owner, ...linked },
    });
  }

  /** @returns the link */
  async function keep(act: 'confirm' | 'stop', account: Account, to: string, milliseconds: number) {
    const token = newSecret();
    const expiresAt = clock() + milliseconds;
    const { id: accountId, email: from } = account;
    const record: EmailChangeRecord = {
      accountId,
      act,
      to,
      ...(from !== undefined && { from }),
      createdAt: clock(),
      securityState: securityState(account.id, account),
    };
    await collection.insert(secretDigest(token), record, { expiresAt });
    return { url: `${baseUrl}/account/email/${act}?token=${token}`, expiresAt };
  }

  async function forget(account: Account, act: Act): Promise<void> {
    const all = await collection.findBy('account', account.id);
    await Promise.all(all.filter(({ value }) => value.act === act).map(({ id }) => collection.remove(id)));
  }

  return {
    async request(account, address) {
      const email = parseEmail(address);
      if (email === undefined)
        throw new AppError('request.invalid', { fields: { email: 'Must be an e-mail address.' } });
      if (email.key === account.emailKey && account.isEmailVerified)
        throw new AppError('request.invalid', { fields: { email: 'This is your address already.' } });
      if ((await findStopped(account)) !== undefined) throw new AppError('account.email_frozen');
      // The second, or an account would be a way to send mail to any number of strangers.
      await limits.consume('mail_address', email.key);
      await limits.consume('mail_address', `changes of ${account.id}`);
      await forget(account, 'confirm');
      const user = userOf(account.id);
      await events.record({ event: 'email.change_requested', actor: user, target: user });
      if (await isOfAnother(account, email.key)) return send(email.address, 'email_change_known', account);
      const lifetime = settings().email_verification_link_seconds * 1000;
      await send(
        email.address,
        'email_change',
        account,
        await keep('confirm', account, email.address, lifetime),
      );
    },

    async stateOf(account) {
      const all = await collection.findBy('account', account.id);
      const state = securityState(account.id, account);
      const pending = all.find(({ value }) => value.act === 'confirm' && value.securityState === state);
      return { pending: pending?.value.to, stopped: await findStopped(account) };
    },

    async find(token, act) {
      const found = await findCurrent(token, act);
      return found && changeOf(found.record);
    },

    async confirm({ id: accountId }, token) {
      const found = await findCurrent(token, 'confirm');
      // A link of another account: its address would come into this one, or this one's into the other.
      if (found === undefined || found.record.accountId !== accountId) return false;
      if (!(await collection.remove(found.id))) return false;
      const { account, record } = found;
      // First: a change without a way back must not be there, a way back without a change does nothing.
      const isTold = account.email !== undefined && account.isEmailVerified;
      const link = isTold ? await keep('stop', account, record.to, WEEK_MS) : undefined;
      const changes = movedTo(account, record.to);
      await accounts.changeOwnAccount(accountId, changes, { version: account.version });
      await secondFactors.trustedDevices.revokeAll(accountId);
      const user = userOf(accountId);
      await events.record({ event: 'email.changed', actor: user, target: user, details: { is_own: true } });
      if (account.email !== undefined && link !== undefined)
        await send(account.email, 'email_change_stop', account, link);
      return true;
    },

    async stop(token) {
      const found = await findCurrent(token, 'stop');
      if (found === undefined || !(await collection.remove(found.id))) return false;
      const { account, record } = found;
      const earlier = await findStopped(account);
      // Of several changes, the address before the first one is the owner's: not one that a thief had in between.
      if (earlier === undefined || earlier.changedAt > record.createdAt)
        await collection.put(stoppedId(account.id), { ...record, act: 'stopped', to: account.email ?? '' });
      await forget(account, 'confirm');
      // Nothing is reset, signed in or told by mail until the owner has decided.
      await accounts.changeOwnAccount(account.id, { isEmailVerified: false });
      await accounts.voidSignInsInProgress(account.id);
      await accounts.endSessionsAsAdmin(account.id);
      await secondFactors.trustedDevices.revokeAll(account.id);
      await events.record({ event: 'email.change_stopped', target: userOf(account.id) });
      return true;
    },

    async settle(account, choice) {
      const stopped = await findStopped(account);
      if (stopped?.from === undefined) throw new AppError('request.not_found');
      const address = choice === 'keep' ? stopped.to : stopped.from;
      await accounts.changeOwnAccount(account.id, movedTo(account, address), { version: account.version });
      await collection.remove(stoppedId(account.id));
      const user = userOf(account.id);
      await events.record({
        event: 'email.change_settled',
        actor: user,
        target: user,
        details: { is_kept: choice === 'keep' },
      });
    },
  };
}
