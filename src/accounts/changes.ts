// Validates changes of an account: one pure function for creation and every update, so that no path has rules of its
// own. It reports all problems at once, by their names in the API.
import { invalid } from '../errors.ts';
import type { Given } from '../model/row.ts';
import { MAX_OTHER_EMAILS } from '../model/users/kinds.ts';
import type { userRows } from '../model/users/rows.ts';
import type { AccountRecord } from '../store/collections.ts';
import { clearFailures } from './lockout.ts';
import { passwordProblems } from './passwords/password-rules.ts';
import { hasSecondFactor, nextSecurityChange } from './security-state.ts';
import { usersAt } from './user-rows.ts';

/** By the names of the API. An absent or undefined member stays unchanged; null clears it. */
export type AccountChanges = Given<typeof userRows> & {
  /** Of src/avatars. */
  readonly avatar_id?: string | null | undefined;
};

export interface ChangeContext {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly minPasswordLength: number;
  /** Names of this service, which passwords must not be built around. */
  readonly contextWords?: readonly string[] | undefined;
  /** The hash of `changes.password`; absent while the changes are only validated. */
  readonly passwordHash?: string | undefined;
}

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
  const { avatar_id: avatarId, ...given } = changes;
  // Guesses of the old password say nothing about the new one.
  const current = given.password === undefined ? before : clearFailures(before);
  const { next, problems } = usersAt(context).change(current, given, { by: 'administrator' });
  const after: AccountRecord = { ...next, updatedAt: context.now };
  if (avatarId === null) delete after.avatarId;
  else if (avatarId !== undefined) after.avatarId = avatarId;
  const fields = { ...combined(after, changes, context), ...Object.fromEntries(problems) };
  if (Object.keys(fields).length > 0) throw invalid(fields);
  const isFactorLost = changes.totp_verified === false && hasSecondFactor(before);
  const isStanding = after.role === before.role && after.isActive === before.isActive;
  // The owner of the previous mailbox may have signed in with it.
  const isMoved = before.usernameKey !== '' && after.emailKey !== before.emailKey;
  const endsSessions = changes.password !== undefined || !isStanding || isFactorLost || isMoved;
  if (endsSessions) {
    after.authenticatedNotBefore = context.now;
    delete after.knownBrowsers;
  }
  if (endsSessions || after.emailKey !== before.emailKey) {
    after.securityChangedAt = nextSecurityChange(before, context.now);
  }
  return after;
}

/** What its members say of one another. It takes the primary address out of the others. */
function combined(
  after: AccountRecord,
  changes: AccountChanges,
  context: ChangeContext,
): Record<string, string> {
  const { usernameKey, email, emailKey, isEmailVerified, phoneNumber, isPhoneNumberVerified } = after;
  const others = after.otherEmails?.filter(({ key }) => key !== emailKey) ?? [];
  if (others.length === 0) delete after.otherEmails;
  else after.otherEmails = others;
  const fields: Record<string, string> = {};
  if (isEmailVerified && emailKey === undefined)
    fields.is_email_verified = 'The user has no e-mail address to verify.';
  // The rule of username.ts that keeps the names of two accounts apart.
  if (usernameKey.includes('@') && usernameKey !== emailKey)
    fields[changes.username === undefined ? 'email' : 'username'] =
      'A username with an @ must be the e-mail address of the same user: change both together.';
  if (others.length > 0 && emailKey === undefined)
    fields.other_emails = 'The user has no primary e-mail address.';
  else if (others.length > MAX_OTHER_EMAILS) fields.other_emails = `Must be ${MAX_OTHER_EMAILS} at most.`;
  if (isPhoneNumberVerified === true && phoneNumber === undefined)
    fields.phone_number_verified = 'The user has no telephone number to verify.';
  if (changes.password !== undefined) {
    const { minPasswordLength: minLength, contextWords } = context;
    const about = { minLength, username: after.username, email, contextWords };
    const problems = passwordProblems(changes.password, about);
    if (problems.length > 0) fields.password = problems.join(' ');
  }
  return fields;
}

/** Whether a change of an account ends its sessions: they rest on what was before. */
export function endsSessions(before: AccountRecord, after: AccountRecord, changes: AccountChanges): boolean {
  const isDeactivated = before.isActive && !after.isActive;
  const isFactorLost = changes.totp_verified === false && hasSecondFactor(before);
  const isMoved = before.role !== after.role || before.emailKey !== after.emailKey;
  return changes.password !== undefined || isMoved || isDeactivated || isFactorLost;
}
