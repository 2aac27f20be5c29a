// The user in the REST API (decisions §6). Built field by field, so that a new field of the record never appears by
// accident; hashes and secrets must not appear (checklist R130).
import type { Address, Profile, Role } from '../store/collections.ts';
import type { Account } from './account.ts';
import { isLocked } from './lockout.ts';
import { addressFields, profileFields } from './profile.ts';

type Shown<T> = { [Name in keyof T]-?: string | null };

/** Names of the API; times are RFC 3339; unknown values are null. */
export type User = {
  id: string;
  username: string;
  email: string | null;
  other_emails: string[];
  role: Role;
  is_email_verified: boolean;
  totp_verified: boolean;
  is_active: boolean;
  deletion_due_at: string | null;
  stopped_email_change: { from: string; to: string | null; stopped_at: string } | null;
  locked_until: string | null;
  failed_login_attempts: number;
  last_login_at: string | null;
  password_changed_at: string | null;
  passkey_count: number;
  avatar_id: string | null;
  groups: string[];
  address: Shown<Address> | null;
  phone_number: string | null;
  phone_number_verified: boolean;
  created_at: string;
  updated_at: string;
} & Shown<Profile>;

const time = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

function shown<Name extends string>(
  names: readonly Name[],
  values: { readonly [N in Name]?: string },
): Record<Name, string | null> {
  const entries = names.map((name) => [name, values[name] ?? null] as const);
  // Object.fromEntries forgets the names in its type; they are exactly `names`.
  return Object.fromEntries(entries) as Record<Name, string | null>;
}

function stoppedChange({ addressChange, email }: Account): User['stopped_email_change'] {
  const { stoppedAt, from } = addressChange ?? {};
  if (stoppedAt === undefined || from === undefined) return null;
  return { from, to: email ?? null, stopped_at: new Date(stoppedAt).toISOString() };
}

/** @param now epoch milliseconds: an expired lock is not shown */
export const toUser = (account: Account, now: number): User => ({
  id: account.id,
  username: account.username,
  email: account.email ?? null,
  other_emails: (account.otherEmails ?? []).map(({ address }) => address),
  role: account.role,
  is_email_verified: account.isEmailVerified,
  totp_verified: account.totpVerified,
  is_active: account.isActive,
  deletion_due_at: time(account.deletion?.dueAt),
  stopped_email_change: stoppedChange(account),
  locked_until: isLocked(account, now) ? time(account.lockedUntil) : null,
  failed_login_attempts: account.failedLoginAttempts,
  last_login_at: time(account.lastLoginAt),
  password_changed_at: time(account.passwordChangedAt),
  groups: [...(account.groups ?? [])],
  passkey_count: account.passkeys?.length ?? 0,
  avatar_id: account.avatarId ?? null,
  ...shown(profileFields, account.profile),
  address: account.address === undefined ? null : shown(addressFields, account.address),
  phone_number: account.phoneNumber ?? null,
  phone_number_verified: account.isPhoneNumberVerified ?? false,
  created_at: new Date(account.createdAt).toISOString(),
  updated_at: new Date(account.updatedAt).toISOString(),
});
