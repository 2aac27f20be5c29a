// The week after a change of address, in which the former mailbox can stop it (src/recovery/email-changes.ts, decision 0038). The
// account remembers what led into it before. What is made meanwhile in a sign-in by these old ways is kept by name; everything
// else rests on the change: it is void when that is stopped, and so is what was made in a sign-in that used it.
import type { WayToSignIn } from '../model/ways-to-sign-in.ts';
import type { MethodTimes } from '../sessions/index.ts';
import type { AccountRecord, AddressChange } from '../store/collections.ts';
import { addressKey } from './email.ts';
import { type AuthenticationPolicy, classOfAccount, classOfMethods, FRESH_SECONDS } from './freshness.ts';
import { hasSecondFactor, nextSecurityChange } from './security-state.ts';

const WEEK_MS = 7 * 86_400_000;

type Held = Readonly<AccountRecord>;

/** The change that can be stopped now, or was stopped and waits to be settled. */
export function addressChangeOf({ addressChange }: Held, now: number): AddressChange | undefined {
  if (addressChange === undefined) return undefined;
  return addressChange.stoppedAt !== undefined || addressChange.until > now ? addressChange : undefined;
}

/** Whether it was the primary address until a change that can be stopped: then it is reachable, and not trusted alone. */
export function isFormerAddress(account: Held, address: string, now: number): boolean {
  const change = addressChangeOf(account, now);
  const key = addressKey(address);
  return change !== undefined && change.fromKey === key && account.emailKey !== key;
}

/** Whether it was the account's before a change that can be stopped; any is, without one. */
export function isOldAddress(account: Held, address: string, now: number): boolean {
  const change = addressChangeOf(account, now);
  const key = addressKey(address);
  return change === undefined || change.fromKey === key || change.kept.includes(`email ${key}`);
}

/**
 * Whether an administrator decides in the owner's place, who may have had no way in but mail: by vouching for an address, or by
 * another one than those between which it was waiting.
 */
export function isDecided(before: Held, after: Held): boolean {
  const isOther = before.emailKey !== after.emailKey;
  if (after.isEmailVerified && (!before.isEmailVerified || isOther)) return true;
  return isOther && before.addressChange?.stoppedAt !== undefined;
}

/** Without a change whose week is over. */
export function withoutPastChange(account: AccountRecord, now: number): AccountRecord {
  if (account.addressChange === undefined || addressChangeOf(account, now) !== undefined) return account;
  const { addressChange: _past, ...rest } = account;
  return rest;
}

// Names by which what is made is kept: each says which one, so that another in its place is not kept with it.
const passwordOf = ({ passwordHash, passwordChangedAt }: Held): string | undefined =>
  passwordHash === undefined ? undefined : `password ${passwordChangedAt ?? ''}`;
const totpOf = ({ totp }: Held): string | undefined => totp && `totp ${totp.enrolledAt}`;
const emailCodesOf = ({ hasEmailCodes }: Held): string | undefined =>
  hasEmailCodes === true ? 'email_codes' : undefined;
const usernameOf = ({ usernameKey }: Held): string => `username ${usernameKey}`;
const recoveryOf = ({ recoveryCodes = [] }: Held): string[] =>
  recoveryCodes.map((code) => `recovery ${code}`);
const passkeysOf = ({ passkeys = [] }: Held): string[] => passkeys.map(({ id }) => `passkey ${id}`);
const emailsOf = ({ otherEmails = [] }: Held): string[] => otherEmails.map(({ key }) => `email ${key}`);
const deletionOf = ({ deletion }: Held): string | undefined => deletion && `deletion ${deletion.requestedAt}`;

const namesOf = (account: Held): string[] =>
  [
    usernameOf(account),
    passwordOf(account),
    totpOf(account),
    emailCodesOf(account),
    deletionOf(account),
    ...recoveryOf(account),
    ...passkeysOf(account),
    ...emailsOf(account),
  ].filter((name) => name !== undefined);

/** A further change within the week of one is a part of it: the address before the first is the owner's. */
export function withAddressChange(
  before: Held,
  after: AccountRecord,
  { id, now, policy }: { readonly id: string; readonly now: number; readonly policy: AuthenticationPolicy },
): AccountRecord {
  const { email: from, emailKey: fromKey, username, usernameKey, passwordHash, passwordChangedAt } = before;
  const open = addressChangeOf(before, now);
  const until = now + WEEK_MS;
  if (open !== undefined) return { ...after, addressChange: { ...open, until } };
  if (from === undefined || fromKey === undefined) return after;
  const password = passwordHash !== undefined && {
    password: {
      hash: passwordHash,
      ...(passwordChangedAt !== undefined && { changedAt: passwordChangedAt }),
    },
  };
  const names = { from, fromKey, username, usernameKey };
  const highestClass = classOfAccount(before, policy);
  const change = { id, beganAt: now, until, ...names, highestClass, ...password, kept: namesOf(before) };
  return { ...after, addressChange: change };
}

/** What is new in `after` outlives a stop, if it was made in a sign-in by the ways of before. */
export function withKept(before: Held, after: AccountRecord, isByOldWays: boolean): AccountRecord {
  const { addressChange: change } = after;
  if (change === undefined || !isByOldWays) return after;
  const had = new Set(namesOf(before));
  // An address that was added stays where another one is stopped, but leads in by itself no more than the change does.
  const added = namesOf(after)
    .filter((name) => !had.has(name))
    .map((name) => name.replace(/^email /, 'added '));
  return added.length === 0
    ? after
    : { ...after, addressChange: { ...change, kept: [...change.kept, ...added] } };
}

/** Which ways into an account are those of before; all, where no change can be stopped. */
export function oldWaysOf(account: Held, now: number) {
  const change = addressChangeOf(account, now);
  const kept = new Set(change?.kept);
  const isOld = (name: string | undefined): boolean =>
    name !== undefined && (change === undefined || kept.has(name));
  return {
    hasPassword: isOld(passwordOf(account)),
    hasTotp: isOld(totpOf(account)),
    hasRecoveryCodes: recoveryOf(account).some(isOld),
    hasPasskey: passkeysOf(account).some(isOld),
    hasNewPasskey: !passkeysOf(account).every(isOld),
  };
}

/**
 * Whether what was authenticated within the last five minutes reaches the highest class that the account had before its
 * change of address, by the ways of before alone. A session does not say which passkey it was: none counts while there are
 * others. A mailbox counts while it is the one of before.
 */
export function isByOldWays(account: Held, times: MethodTimes, now: number): boolean {
  const change = addressChangeOf(account, now);
  if (change === undefined) return true;
  const old = oldWaysOf(account, now);
  const isSameMailbox = account.emailKey === change.fromKey && account.isEmailVerified;
  const isOfBefore = (at: number): boolean => at * 1000 < change.beganAt;
  const counts: Readonly<Record<WayToSignIn, (at: number) => boolean>> = {
    password: () => old.hasPassword,
    totp: () => old.hasTotp,
    recovery: (at) => old.hasRecoveryCodes || isOfBefore(at),
    passkey: (at) => !old.hasNewPasskey || isOfBefore(at),
    security_key: (at) => !old.hasNewPasskey || isOfBefore(at),
    email_code: (at) => isSameMailbox || isOfBefore(at),
    email_link: isOfBefore,
  };
  const since = now / 1000 - FRESH_SECONDS;
  const shown = classOfMethods((method) => {
    const at = times[method];
    return at !== undefined && at >= since && counts[method](at);
  });
  return shown >= change.highestClass;
}

function keepOnly(after: AccountRecord, value: Held, change: AddressChange, isNameTaken: boolean): void {
  const kept = new Set(change.kept);
  const stays = (name: string | undefined): boolean => name === undefined || kept.has(name);
  if (!stays(passwordOf(value))) {
    delete after.passwordHash;
    delete after.passwordChangedAt;
    const { hash, changedAt } = change.password ?? {};
    if (hash !== undefined) after.passwordHash = hash;
    if (changedAt !== undefined) after.passwordChangedAt = changedAt;
  }
  if (!stays(totpOf(value))) {
    delete after.totp;
    after.totpVerified = false;
  }
  if (!stays(emailCodesOf(value))) delete after.hasEmailCodes;
  if (!stays(deletionOf(value))) delete after.deletion;
  after.passkeys = (value.passkeys ?? []).filter(({ id }) => kept.has(`passkey ${id}`));
  after.recoveryCodes = (value.recoveryCodes ?? []).filter((code) => kept.has(`recovery ${code}`));
  after.otherEmails = (value.otherEmails ?? []).filter(
    ({ key }) => key === change.fromKey || kept.has(`email ${key}`) || kept.has(`added ${key}`),
  );
  // One that is an address follows it (username.ts). One that somebody else has by now is theirs.
  const isName = !value.usernameKey.includes('@') && !change.usernameKey.includes('@');
  if (isName && !isNameTaken && !stays(usernameOf(value))) {
    after.username = change.username;
    after.usernameKey = change.usernameKey;
  }
}

/** Of a change that began under an earlier version, what is newer than it: the rest is not known. */
function dropSince(after: AccountRecord, since: number, isPasskeyNew: (id: string) => boolean): void {
  if ((after.passwordChangedAt ?? 0) >= since) {
    delete after.passwordHash;
    delete after.passwordChangedAt;
  }
  if ((after.totp?.enrolledAt ?? 0) >= since) {
    delete after.totp;
    after.totpVerified = false;
  }
  if ((after.deletion?.requestedAt ?? 0) >= since) delete after.deletion;
  after.passkeys = (after.passkeys ?? []).filter(({ id }) => !isPasskeyNew(id));
  after.otherEmails = (after.otherEmails ?? []).filter(({ verifiedAt }) => verifiedAt < since);
  // They do not say when they were generated.
  after.recoveryCodes = [];
}

export interface Stop {
  readonly now: number;
  /** The primary address is what is stopped: no address counts until that is settled. */
  readonly isMoved: boolean;
  /** What was added is what is stopped. */
  readonly added?: string | undefined;
  /** For a change that the account does not know. */
  readonly since: number;
  readonly isPasskeyNew: (id: string) => boolean;
  /** Where the username or the address of before is another account's by now: neither comes back. */
  readonly isNameTaken?: boolean;
  /** The address before a change that the account does not know. */
  readonly from?: string | undefined;
  readonly policy: AuthenticationPolicy;
}

/** Of a change that began under an earlier version: as far as it is known when it is stopped, so that it waits like any other. */
function changeOfEarlier(
  after: Held,
  { from, since, now, policy, isNameTaken }: Stop,
): AddressChange | undefined {
  if (from === undefined || isNameTaken === true) return undefined;
  const isAddress = after.usernameKey === after.emailKey;
  return {
    id: `${since}`,
    beganAt: since,
    until: now,
    from,
    fromKey: addressKey(from),
    username: isAddress ? from : after.username,
    usernameKey: isAddress ? addressKey(from) : after.usernameKey,
    highestClass: classOfAccount(after, policy),
    kept: namesOf(after),
  };
}

/** The account without what rests on the change, signed out everywhere. */
export function stopAddressChange(value: AccountRecord, stop: Stop): AccountRecord {
  const { now, isMoved, added } = stop;
  const { knownBrowsers: _known, ...after } = value;
  const change = addressChangeOf(value, now);
  if (change === undefined) dropSince(after, stop.since, stop.isPasskeyNew);
  else keepOnly(after, value, change, stop.isNameTaken === true);
  const gone = added === undefined ? undefined : addressKey(added);
  after.otherEmails = (after.otherEmails ?? []).filter(({ key }) => key !== gone);
  if (isMoved) {
    after.isEmailVerified = false;
    const waiting = change ?? changeOfEarlier(after, stop);
    if (waiting !== undefined) after.addressChange = { ...waiting, stoppedAt: waiting.stoppedAt ?? now };
  }
  // Codes of a factor that is gone would be good for one that somebody enrols later.
  if (!hasSecondFactor(after)) after.recoveryCodes = [];
  for (const name of ['passkeys', 'recoveryCodes', 'otherEmails'] as const)
    if (after[name]?.length === 0) delete after[name];
  return {
    ...after,
    authenticatedNotBefore: now,
    proofsNotBefore: now,
    securityChangedAt: nextSecurityChange(value, now),
    updatedAt: now,
  };
}
