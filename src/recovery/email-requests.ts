// What is stored and mailed of changes of addresses: links by the digests of their tokens, for a while, and what was stopped.
import { type Account, addressKey, isDecided, securityState } from '../accounts/index.ts';
import { newSecret, secretDigest } from '../ids.ts';
import { readerValues, requestValues } from '../mail/index.ts';
import { type EmailChangeRecord, emailChanges } from '../store/collections.ts';
import { AlreadyExists, VersionConflict } from '../store/port.ts';
import type { RecoveryDoors } from './doors.ts';

interface Link {
  readonly url: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface EmailRequests {
  /** Whether a link would reach anybody. */
  canSend(): boolean;
  /** Stores a link; who gets it is the caller's business. */
  keep(
    act: 'confirm' | 'stop',
    account: Account,
    change: { readonly to: string; readonly isAddition?: boolean },
    milliseconds: number,
  ): Promise<Link>;
  find(token: string, act: 'confirm' | 'stop'): Promise<EmailChangeRecord | undefined>;
  /** @returns to exactly one of any number of callers whether it was there */
  take(token: string): Promise<boolean>;
  /** Addresses that wait for their links, oldest first. */
  pendingOf(account: Account): Promise<string[]>;
  /** @param address default: all that wait. @returns whether there was one */
  forget(account: Account, address?: string): Promise<boolean>;
  findStopped(accountId: string): Promise<EmailChangeRecord | undefined>;
  /**
   * Of several changes, the address before the first one is the owner's: not one that a thief had in between, whichever of their
   * links is used first.
   */
  keepStopped(account: Account, record: EmailChangeRecord): Promise<void>;
  /** That it was stopped, and the links that stop it: it is decided. */
  forgetDecided(account: Account): Promise<void>;
  /** Tells an address of an account how a stopped change was settled. */
  tellSettled(to: string, account: Account, choice: 'keep' | 'undo'): Promise<void>;
  send(
    to: string,
    template: 'email_change' | 'email_change_known' | 'email_change_stop' | 'email_added',
    account: Account,
    link?: Link,
  ): Promise<void>;
}

const TOKEN_LENGTH = newSecret().length;

const stoppedId = (accountId: string): string => `stopped ${accountId}`;

export function createEmailRequests({ store, baseUrl, clock, mail, events }: RecoveryDoors): EmailRequests {
  const collection = store.collection(emailChanges);
  events.on('accountRemoving', ({ accountId }) => collection.removeBy('account', accountId));
  events.on('accountChangedByAdmin', async ({ before, after }) => {
    if (after.addressChange === undefined && isDecided(before, after)) await forgetDecided(after);
  });

  /** What was decided no link of before stops. One of an address that was added, and is there yet, takes that away. */
  async function forgetDecided(account: Account): Promise<void> {
    const isThere = (address: string): boolean =>
      (account.otherEmails ?? []).some(({ key }) => key === addressKey(address));
    const all = await collection.findBy('account', account.id);
    const gone = all.filter(
      ({ value: { act, isAddition, to } }) => act !== 'confirm' && !(isAddition === true && isThere(to)),
    );
    await Promise.all(gone.map(({ id }) => collection.remove(id)));
  }

  async function waitingOf(account: Account) {
    const state = securityState(account.id, account);
    const all = await collection.findBy('account', account.id);
    return all
      .filter(({ value }) => value.act === 'confirm' && value.securityState === state)
      .sort((a, b) => a.value.createdAt - b.value.createdAt);
  }

  return {
    canSend: () => mail.canSend(),

    async keep(act, account, { to, isAddition = false }, milliseconds) {
      const token = newSecret();
      const expiresAt = clock() + milliseconds;
      const { id: accountId, email: from } = account;
      const record: EmailChangeRecord = {
        accountId,
        act,
        to,
        ...(isAddition && { isAddition }),
        ...(from !== undefined && { from }),
        createdAt: clock(),
        securityState: securityState(account.id, account),
      };
      await collection.insert(secretDigest(token), record, { expiresAt });
      return { url: `${baseUrl}/account/email/${act}?token=${token}`, expiresAt };
    },

    async find(token, act) {
      if (token.length !== TOKEN_LENGTH) return undefined;
      const record = (await collection.find(secretDigest(token)))?.value;
      return record?.act === act ? record : undefined;
    },

    take: (token) => collection.remove(secretDigest(token)),

    pendingOf: async (account) => [...new Set((await waitingOf(account)).map(({ value }) => value.to))],

    async forget(account, address) {
      const key = address === undefined ? undefined : addressKey(address);
      const gone = (await waitingOf(account)).filter(
        ({ value }) => key === undefined || addressKey(value.to) === key,
      );
      const removed = await Promise.all(gone.map(({ id }) => collection.remove(id)));
      return removed.includes(true);
    },

    findStopped: async (accountId) => (await collection.find(stoppedId(accountId)))?.value,

    async keepStopped({ id: accountId, email = '' }, record) {
      const id = stoppedId(accountId);
      const value: EmailChangeRecord = { ...record, act: 'stopped', to: email, stoppedAt: clock() };
      for (;;) {
        const before = await collection.find(id);
        const isSame = before !== undefined && addressKey(before.value.to) === addressKey(email);
        if (isSame && before.value.createdAt <= record.createdAt) return;
        try {
          await (before === undefined
            ? collection.insert(id, value)
            : collection.replace(id, before.version, value));
          return;
        } catch (error) {
          if (!(error instanceof VersionConflict || error instanceof AlreadyExists)) throw error;
        }
      }
    },

    forgetDecided,

    async tellSettled(to, account, choice) {
      const { values } = requestValues(events.origins.current(), clock());
      const template = choice === 'keep' ? 'email_change_kept' : 'email_change_undone';
      const language = account.profile.locale;
      const owner = readerValues(account, true);
      await mail.queue({ to, accountId: account.id, template, language, values: { ...values, ...owner } });
    },

    async send(to, template, account, link) {
      const { values, language } = requestValues(events.origins.current(), clock());
      const linked = link && { url: link.url, expiresSeconds: Math.round((link.expiresAt - clock()) / 1000) };
      // Who has an account with that address does not learn of the account that wants it.
      const isProven = template !== 'email_change';
      const owner = template === 'email_change_known' ? {} : readerValues(account, isProven);
      await mail.queue({
        to,
        // That one is of who has the address.
        ...(template !== 'email_change_known' && { accountId: account.id }),
        template,
        language: account.profile.locale ?? language,
        values: { ...values, ...owner, ...linked },
      });
    },
  };
}
