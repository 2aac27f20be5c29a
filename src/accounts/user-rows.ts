// Reads and changes accounts by the rows of a user (src/model/users/rows.ts): what is special about a few of them.
import { walk } from '../api/walk.ts';
import type { Change } from '../model/row.ts';
import { addressRows } from '../model/users/address-rows.ts';
import { parseEmail } from '../model/users/email-address.ts';
import { userRows } from '../model/users/rows.ts';
import { parseUsername } from '../model/users/username.ts';
import type { AccountRecord, OtherEmail } from '../store/collections.ts';
import { isLocked } from './lockout.ts';
import { eraseSecondFactors } from './security-state.ts';

interface Context {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Of a password that is given; absent while the changes are only validated. */
  readonly passwordHash?: string | undefined;
}

/** Members that the one has and the other has not are among those that go. */
const changeTo = (before: AccountRecord, after: AccountRecord): Change<AccountRecord> => ({
  ...Object.fromEntries(Object.keys(before).map((name) => [name, undefined])),
  ...after,
});

const isOther = ({ otherEmails = [] }: AccountRecord, key: string): boolean =>
  otherEmails.some((other) => other.key === key);

/** Those that the account had stay as they were; the primary one and repetitions are left out. */
function otherEmailsOf(
  { otherEmails: before = [], emailKey }: AccountRecord,
  given: readonly string[],
  now: number,
) {
  const others = new Map<string, OtherEmail>();
  for (const text of given) {
    const email = parseEmail(text);
    if (email === undefined || email.key === emailKey || others.has(email.key)) continue;
    others.set(email.key, before.find(({ key }) => key === email.key) ?? { ...email, verifiedAt: now });
  }
  return others.size > 0 ? [...others.values()] : undefined;
}

const linesOf = (address: Readonly<Record<string, string | null>>) =>
  Object.keys(addressRows).map((name) => [name, address[name] ?? null] as const);

/** @returns undefined where no line is left; what a newer version has written there stays in the store */
function withLines(address: Readonly<Record<string, string | null>>): Record<string, string> | undefined {
  const lines = linesOf(address).flatMap(([name, line]) => (line === null ? [] : [[name, line] as const]));
  return lines.length === 0 ? undefined : Object.fromEntries(lines);
}

export const usersAt = ({ now, passwordHash }: Context) =>
  walk<typeof userRows, AccountRecord>(userRows, {
    username: {
      show: ({ username }) => username,
      settle(_, to) {
        const parsed = parseUsername(to ?? '');
        return 'problem' in parsed ? {} : { username: parsed.name, usernameKey: parsed.key };
      },
    },
    password: {
      show: () => null,
      settle: () => ({ passwordChangedAt: now, ...(passwordHash !== undefined && { passwordHash }) }),
    },
    email: {
      show: ({ email }) => email ?? null,
      settle(record, to) {
        const { address: email, key: emailKey } = parseEmail(to ?? '') ?? {};
        // Verification belongs to one address: a new one is unverified unless an administrator vouches for it.
        // One that the account had verified already stays so.
        const isEmailVerified =
          emailKey === record.emailKey
            ? record.isEmailVerified
            : emailKey !== undefined && isOther(record, emailKey);
        // Nothing would count without a primary one.
        return { email, emailKey, isEmailVerified, ...(email === undefined && { otherEmails: undefined }) };
      },
    },
    other_emails: {
      show: ({ otherEmails = [] }) => otherEmails.map(({ address }) => address),
      settle: (record, to) => ({ otherEmails: otherEmailsOf(record, to ?? [], now) }),
    },
    totp_verified: {
      show: ({ totpVerified }) => totpVerified,
      settle: (record, to) =>
        to === false ? changeTo(record, eraseSecondFactors(record, now)) : { totpVerified: true },
    },
    stopped_email_change: {
      show({ addressChange, email }) {
        const { stoppedAt, from } = addressChange ?? {};
        if (stoppedAt === undefined || from === undefined) return null;
        return { from, to: email ?? null, stopped_at: new Date(stoppedAt).toISOString() };
      },
    },
    locked_until: {
      // One that is over is none.
      show: (record) =>
        record.lockedUntil !== undefined && isLocked(record, now)
          ? new Date(record.lockedUntil).toISOString()
          : null,
    },
    passkey_count: { show: ({ passkeys = [] }) => passkeys.length },
    address: {
      show: ({ address }) => (address === undefined ? null : Object.fromEntries(linesOf({ ...address }))),
      settle: ({ address }, to) => ({ address: to === null ? undefined : withLines({ ...address, ...to }) }),
    },
    phone_number: {
      show: ({ phoneNumber }) => phoneNumber ?? null,
      settle: ({ phoneNumber: before }, to) => ({
        phoneNumber: to ?? undefined,
        ...(to !== before && { isPhoneNumberVerified: undefined }),
      }),
    },
  });
