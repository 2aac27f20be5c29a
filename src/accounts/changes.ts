// Validates changes of an account: one pure function for creation and every update, so that no path has rules of its
// own. It reports all problems at once, by their names in the API.
import { AppError } from '../errors.ts';
import type { AccountRecord, OtherEmail, Role } from '../store/collections.ts';
import { parseEmail } from './email.ts';
import { clearFailures } from './lockout.ts';
import { passwordProblems } from './passwords/password-rules.ts';
import {
  type AddressChanges,
  mergeAddress,
  mergeProfile,
  type ProfileChanges,
  phoneProblem,
} from './profile.ts';
import { eraseSecondFactors, hasSecondFactor, nextSecurityChange } from './security-state.ts';
import { parseUsername } from './username.ts';

/** An absent or undefined member stays unchanged; null clears it. */
export interface AccountChanges extends ProfileChanges {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly email?: string | null | undefined;
  /** All of them, as verified; those that were there stay as they are. The primary one and repetitions are left out. */
  readonly other_emails?: readonly string[] | undefined;
  readonly role?: Role | undefined;
  readonly is_active?: boolean | undefined;
  readonly is_email_verified?: boolean | undefined;
  /** false: erases every second factor; the next sign-in must enrol one again. */
  readonly totp_verified?: boolean | undefined;
  readonly address?: AddressChanges | null | undefined;
  /** Of src/avatars. */
  readonly avatar_id?: string | null | undefined;
  readonly phone_number?: string | null | undefined;
  readonly phone_number_verified?: boolean | undefined;
}

export interface ChangeContext {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly minPasswordLength: number;
  /** Names of this service, which passwords must not be built around. */
  readonly contextWords?: readonly string[] | undefined;
  /** The hash of `changes.password`; absent while the changes are only validated. */
  readonly passwordHash?: string | undefined;
}

/** Besides the primary one. */
export const MAX_OTHER_EMAILS = 4;

type Report = (field: string, problem: string) => void;

/** An account without any data. */
export const blankAccount = (now: number): AccountRecord => ({
  username: '',
  usernameKey: '',
  isEmailVerified: false,
  role: 'user',
  isActive: true,
  failedLoginAttempts: 0,
  lockCount: 0,
  totpVerified: false,
  profile: {},
  createdAt: now,
  updatedAt: now,
});

/** @throws AppError request.invalid with every invalid field */
export function applyChanges(
  before: AccountRecord,
  changes: AccountChanges,
  context: ChangeContext,
): AccountRecord {
  const fields: Record<string, string> = {};
  const report: Report = (field, problem) => {
    fields[field] ??= problem;
  };
  const isReset = changes.totp_verified === false;
  // Guesses of the old password say nothing about the new one.
  const current = changes.password === undefined ? before : clearFailures(before);
  const after: AccountRecord = {
    ...(isReset ? eraseSecondFactors(current, context.now) : current),
    role: changes.role ?? before.role,
    isActive: changes.is_active ?? before.isActive,
    totpVerified: changes.totp_verified ?? before.totpVerified,
    profile: mergeProfile(before.profile, changes, report),
    updatedAt: context.now,
  };
  applyNames(after, changes, report);
  applyOtherEmails(after, changes, context.now, report);
  applyContact(after, changes, report);
  if (changes.avatar_id === null) delete after.avatarId;
  else if (changes.avatar_id !== undefined) after.avatarId = changes.avatar_id;
  applyPassword(after, changes, context, report);
  const isFactorLost = isReset && hasSecondFactor(before);
  const isStanding = after.role === before.role && after.isActive === before.isActive;
  // The owner of the previous mailbox may have signed in with it (checklist R063).
  const isMoved = before.usernameKey !== '' && after.emailKey !== before.emailKey;
  const endsSessions = changes.password !== undefined || !isStanding || isFactorLost || isMoved;
  if (endsSessions) {
    after.authenticatedNotBefore = context.now;
    delete after.knownBrowsers;
  }
  if (endsSessions || after.emailKey !== before.emailKey) {
    after.securityChangedAt = nextSecurityChange(before, context.now);
  }
  if (Object.keys(fields).length > 0) throw new AppError('request.invalid', { fields });
  return after;
}

// The functions below write into the copy that applyChanges created and returns.

function applyNames(after: AccountRecord, changes: AccountChanges, report: Report): void {
  if (changes.username !== undefined) {
    const username = parseUsername(changes.username);
    if ('problem' in username) report('username', username.problem);
    else {
      after.username = username.name;
      after.usernameKey = username.key;
    }
  }
  const keyBefore = after.emailKey;
  if (changes.email === null || changes.email === '') {
    delete after.email;
    delete after.emailKey;
    // Nothing would count without a primary one.
    delete after.otherEmails;
  } else if (changes.email !== undefined) {
    const email = parseEmail(changes.email);
    if (email === undefined) report('email', 'Must be an e-mail address such as alice@example.com.');
    else {
      after.email = email.address;
      after.emailKey = email.key;
    }
  }
  // Verification belongs to one address (checklist R129): a new one is unverified unless an administrator vouches for
  // it.
  // One that the account had verified already stays so.
  if (after.emailKey !== keyBefore) after.isEmailVerified = isOther(after, after.emailKey);
  if (changes.is_email_verified !== undefined) after.isEmailVerified = changes.is_email_verified;
  if (after.isEmailVerified && after.emailKey === undefined) {
    report('is_email_verified', 'The user has no e-mail address to verify.');
  }
  // The rule of username.ts that keeps the names of two accounts apart.
  if (after.usernameKey.includes('@') && after.usernameKey !== after.emailKey) {
    const field = changes.username === undefined ? 'email' : 'username';
    report(field, 'A username with an @ must be the e-mail address of the same user: change both together.');
  }
}

const isOther = ({ otherEmails = [] }: AccountRecord, key: string | undefined): boolean =>
  otherEmails.some((other) => other.key === key);

function applyOtherEmails(
  after: AccountRecord,
  { other_emails: given }: AccountChanges,
  now: number,
  report: Report,
): void {
  const { otherEmails: before = [], emailKey } = after;
  const wanted = (given ?? before.map(({ address }) => address)).map((text) => parseEmail(text));
  if (wanted.includes(undefined))
    report('other_emails', 'Must be e-mail addresses such as alice@example.com.');
  const others = new Map<string, OtherEmail>();
  for (const email of wanted) {
    if (email === undefined || email.key === emailKey || others.has(email.key)) continue;
    const known = before.find(({ key }) => key === email.key);
    others.set(email.key, known ?? { ...email, verifiedAt: now });
  }
  if (others.size > MAX_OTHER_EMAILS) report('other_emails', `Must be ${MAX_OTHER_EMAILS} at most.`);
  if (others.size > 0 && emailKey === undefined)
    report('other_emails', 'The user has no primary e-mail address.');
  if (others.size > 0) after.otherEmails = [...others.values()];
  else delete after.otherEmails;
}

function applyContact(after: AccountRecord, changes: AccountChanges, report: Report): void {
  if (changes.address !== undefined) {
    const address = mergeAddress(after.address, changes.address, report);
    if (address === undefined) delete after.address;
    else after.address = address;
  }
  if (changes.phone_number !== undefined) {
    const phoneNumber = changes.phone_number?.trim() ?? '';
    const problem = phoneNumber === '' ? undefined : phoneProblem(phoneNumber);
    if (problem !== undefined) report('phone_number', problem);
    if (phoneNumber !== after.phoneNumber) delete after.isPhoneNumberVerified;
    if (phoneNumber === '') delete after.phoneNumber;
    else after.phoneNumber = phoneNumber;
  }
  if (changes.phone_number_verified !== undefined) {
    if (changes.phone_number_verified && after.phoneNumber === undefined) {
      report('phone_number_verified', 'The user has no telephone number to verify.');
    }
    after.isPhoneNumberVerified = changes.phone_number_verified;
  }
}

function applyPassword(
  after: AccountRecord,
  changes: AccountChanges,
  context: ChangeContext,
  report: Report,
): void {
  if (changes.password === undefined) return;
  const problems = passwordProblems(changes.password, {
    minLength: context.minPasswordLength,
    username: after.username,
    email: after.email,
    contextWords: context.contextWords,
  });
  if (problems.length > 0) report('password', problems.join(' '));
  after.passwordChangedAt = context.now;
  if (context.passwordHash !== undefined) after.passwordHash = context.passwordHash;
}

/** Whether a change of an account ends its sessions: they rest on what was before. */
export function endsSessions(before: AccountRecord, after: AccountRecord, changes: AccountChanges): boolean {
  const isDeactivated = before.isActive && !after.isActive;
  const isFactorLost = changes.totp_verified === false && hasSecondFactor(before);
  const isMoved = before.role !== after.role || before.emailKey !== after.emailKey;
  return changes.password !== undefined || isMoved || isDeactivated || isFactorLost;
}
