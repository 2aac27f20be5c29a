// All claims of an account (OIDC Core §5.1, decisions §5). Scopes and requested claims decide elsewhere which of them
// a client gets.

import type { Account } from '../../accounts/index.ts';
import type { Address, Profile, Role } from '../../store/collections.ts';

export interface Claims extends Profile {
  sub: string;
  name: string;
  preferred_username: string;
  email?: string;
  email_verified?: boolean;
  phone_number?: string;
  phone_number_verified?: boolean;
  address?: Address;
  /** Epoch seconds (OIDC Core §5.1). */
  updated_at: number;
  roles: Role[];
  groups: string[];
}

/** The scope `profile` promises `name` (§2.6), so it falls back to what the profile has. */
function nameOf({ profile, username }: Account): string {
  if (profile.name !== undefined) return profile.name;
  const composed = [profile.given_name, profile.family_name].filter((part) => part !== undefined).join(' ');
  return composed === '' ? username : composed;
}

export const toClaims = (account: Account): Claims => ({
  ...account.profile,
  sub: account.id,
  name: nameOf(account),
  preferred_username: account.username,
  ...(account.email !== undefined && { email: account.email, email_verified: account.isEmailVerified }),
  ...(account.phoneNumber !== undefined && {
    phone_number: account.phoneNumber,
    phone_number_verified: account.isPhoneNumberVerified ?? false,
  }),
  ...(account.address !== undefined && { address: account.address }),
  updated_at: Math.floor(account.updatedAt / 1000),
  roles: [account.role],
  groups: [...(account.groups ?? [])],
});
