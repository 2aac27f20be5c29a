// All claims of an account (OIDC Core §5.1, decisions §5). Scopes and requested claims decide elsewhere which of them
// a client gets.

import { type Account, displayNameOf } from '../../accounts/index.ts';
import { pictureOf } from '../../avatars/index.ts';
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

/** @param picture see src/avatars */
const withPicture = (picture: string | undefined): { picture?: string } =>
  picture === undefined ? {} : { picture };

export const toClaims = (account: Account, baseUrl: string): Claims => ({
  ...account.profile,
  ...withPicture(pictureOf(account, baseUrl)),
  sub: account.id,
  // The scope `profile` promises `name` (§2.6), so it falls back to what the account has.
  name: displayNameOf(account.profile) ?? account.username,
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
