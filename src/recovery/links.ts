// Tokens are stored as digests, for one purpose, one account and the address they were sent to, and are used once.
import { type Account, isFormerAddress, ownAddress, securityState } from '../accounts/index.ts';
import { type Clock, isAhead } from '../clock.ts';
import { newSecret, secretDigest } from '../ids.ts';
import type { AccountRecord, LinkRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { FORMER_WAIT_MS, type FormerFactor, formerFactorOf } from './former-address.ts';

export type LinkPurpose = LinkRecord['purpose'];

export interface Link {
  readonly accountId: string;
  readonly purpose: LinkPurpose;
  /** The address it was sent to, which must still be the account's. */
  readonly email: string;
  /** The interaction that requested a magic link. */
  readonly boundTo?: string;
  /** It was sent to a former address, and counts later. */
  readonly isWaiting?: true;
  /** Nobody mailed it: who uses it need not have the mailbox. */
  readonly isHanded?: true;
  /** It was sent to a former address: what shows that it is still the owner's. A passkey is for a sign-in. */
  readonly factor?: FormerFactor;
}

export interface Links {
  /**
   * @param input.to the link is bound to it; default: the account's primary address, which it must have then
   * @returns the token for the link, and when it expires (epoch ms)
   */
  create(input: {
    account: Account;
    to?: string;
    purpose: LinkPurpose;
    boundTo?: string;
    /** From now. Default: at once. */
    waitsMs?: number;
    isHanded?: boolean;
  }): Promise<{ token: string; expiresAt: number }>;
  /** Whether one that was sent to this address counts and is valid for that long yet. */
  hasLasting(account: Account, to: string, purpose: LinkPurpose, milliseconds: number): Promise<boolean>;
  /** For the confirmation page. @returns undefined for any token that is not valid now, whatever the reason */
  find(token: string, purpose: LinkPurpose): Promise<Link | undefined>;
  /** @returns the link to exactly one of any number of callers */
  consume(token: string, purpose: LinkPurpose): Promise<Link | undefined>;
  /** @returns the number of removed links */
  removeAllOf(accountId: string, purpose?: LinkPurpose): Promise<number>;
}

export interface LinkSettings {
  readonly password_reset_link_seconds: number;
  readonly email_verification_link_seconds: number;
  readonly magic_link_seconds: number;
  readonly invitation_link_seconds: number;
}

const lifetimeKeys = {
  password_reset: 'password_reset_link_seconds',
  email_verification: 'email_verification_link_seconds',
  magic_link: 'magic_link_seconds',
  invitation: 'invitation_link_seconds',
} as const satisfies Record<LinkPurpose, keyof LinkSettings>;

const TOKEN_LENGTH = newSecret().length;

function isCurrent(link: LinkRecord, accountId: string, account: AccountRecord, now: number): boolean {
  if (account.deletingAt !== undefined) return false;
  // A new password does not change who controls the mailbox, but invalidates links that set a password or sign in.
  if (link.purpose === 'email_verification') return account.email === link.email;
  const isUnchanged = link.securityState === securityState(accountId, account);
  if (link.purpose === 'password_reset' && isFormerAddress(account, link.email, now)) return isUnchanged;
  // An invitation is what verifies its address. A change that its owner stopped leaves no verified one: a link that whoever
  // changed it asked for before counts no more (email-changes.ts).
  const isOwn =
    ownAddress(account, link.email) === link.email ||
    (link.purpose === 'invitation' && account.email === link.email);
  return isOwn && isUnchanged;
}

export function createLinks(deps: {
  collection: EphemeralCollection<LinkRecord>;
  accounts: Pick<EphemeralCollection<AccountRecord>, 'find'>;
  clock: Clock;
  settings: () => LinkSettings;
}): Links {
  const { collection, accounts, clock, settings } = deps;

  async function findCurrent(token: string, purpose: LinkPurpose) {
    if (token.length !== TOKEN_LENGTH) return undefined;
    const id = secretDigest(token);
    const link = (await collection.find(id))?.value;
    if (link === undefined || link.purpose !== purpose) return undefined;
    const { accountId, email, boundTo } = link;
    const account = await accounts.find(accountId);
    if (account === undefined || !isCurrent(link, accountId, account.value, clock())) return undefined;
    const isFormer = isFormerAddress(account.value, email, clock());
    const factor = isFormer ? formerFactorOf(account.value, clock()) : undefined;
    const found: Link = {
      accountId,
      purpose,
      email,
      ...(isAhead(link.validFrom ?? 0, clock(), FORMER_WAIT_MS) && { isWaiting: true as const }),
      ...(link.isHanded === true && { isHanded: true as const }),
      ...(boundTo !== undefined && { boundTo }),
      ...(factor !== undefined && { factor }),
    };
    return { id, found };
  }

  return {
    async create({ account, purpose, boundTo, to = account.email, waitsMs = 0, isHanded = false }) {
      if (to === undefined) throw new TypeError('a link needs an address to be sent to');
      const token = newSecret();
      const now = clock();
      // One that waits is read a day later, and not to the minute.
      const lifetimeMs = waitsMs > 0 ? waitsMs * 2 : settings()[lifetimeKeys[purpose]] * 1000;
      const expiresAt = now + lifetimeMs;
      const link: LinkRecord = {
        accountId: account.id,
        purpose,
        email: to,
        createdAt: now,
        ...(boundTo !== undefined && { boundTo }),
        ...(waitsMs > 0 && { validFrom: now + waitsMs }),
        ...(isHanded && { isHanded }),
        securityState: securityState(account.id, account),
      };
      await collection.insert(secretDigest(token), link, { expiresAt });
      return { token, expiresAt };
    },
    async hasLasting(account, to, purpose, milliseconds) {
      const until = clock() + milliseconds;
      // One that is valid for longer than a link can be is of a clock that was set back since.
      const latest = clock() + settings()[lifetimeKeys[purpose]] * 1000;
      const state = securityState(account.id, account);
      return (await collection.findBy('account', account.id)).some(
        ({ value, expiresAt = 0 }) =>
          value.purpose === purpose &&
          value.email === to &&
          value.securityState === state &&
          expiresAt > until &&
          expiresAt <= latest,
      );
    },
    async find(token, purpose) {
      return (await findCurrent(token, purpose))?.found;
    },
    async consume(token, purpose) {
      const current = await findCurrent(token, purpose);
      if (current === undefined || current.found.isWaiting === true) return undefined;
      return (await collection.remove(current.id)) ? current.found : undefined;
    },
    async removeAllOf(accountId, purpose) {
      if (purpose === undefined) return collection.removeBy('account', accountId);
      const all = await collection.findBy('account', accountId);
      const removed = await Promise.all(
        all.filter(({ value }) => value.purpose === purpose).map(({ id }) => collection.remove(id)),
      );
      return removed.filter(Boolean).length;
    },
  };
}
