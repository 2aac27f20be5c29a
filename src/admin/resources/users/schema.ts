// Owns the JSON of users: what the API shows (decisions §6) and what may be given, and the way from there to the domain.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Null,
  Object as ObjectSchema,
  Optional,
  type Static,
  String as StringSchema,
  Union,
} from 'typebox';
import type { AccountChanges } from '../../../accounts/changes.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';

// The domain says which texts are right (src/accounts); this only bounds what it has to look at.
const text = (maxLength: number, description?: string) =>
  StringSchema({ maxLength, ...(description !== undefined && { description }) });
const clearable = (maxLength = 2048, description?: string) =>
  Optional(nullable(text(maxLength, description)));

const role = () => Enum(['user', 'auditor', 'admin']);

const addressShown = ObjectSchema(
  {
    formatted: nullable(StringSchema()),
    street_address: nullable(StringSchema()),
    locality: nullable(StringSchema()),
    region: nullable(StringSchema()),
    postal_code: nullable(StringSchema()),
    country: nullable(StringSchema()),
  },
  strict,
);

const profileShown = {
  name: nullable(StringSchema()),
  given_name: nullable(StringSchema()),
  family_name: nullable(StringSchema()),
  middle_name: nullable(StringSchema()),
  nickname: nullable(StringSchema()),
  profile: nullable(StringSchema()),
  picture: nullable(StringSchema()),
  website: nullable(StringSchema()),
  gender: nullable(StringSchema()),
  birthdate: nullable(StringSchema()),
  zoneinfo: nullable(StringSchema()),
  locale: nullable(StringSchema()),
};

export const userSchema = ObjectSchema(
  {
    id: StringSchema(),
    username: StringSchema(),
    email: nullable(StringSchema()),
    role: role(),
    is_email_verified: BooleanSchema(),
    totp_verified: BooleanSchema(),
    is_active: BooleanSchema(),
    locked_until: nullable(timestamp()),
    failed_login_attempts: Integer(),
    last_login_at: nullable(timestamp()),
    password_changed_at: nullable(timestamp()),
    passkey_count: Integer(),
    groups: ArraySchema(StringSchema()),
    ...profileShown,
    address: Union([addressShown, Null()]),
    phone_number: nullable(StringSchema()),
    phone_number_verified: BooleanSchema(),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  strict,
);

const addressGiven = ObjectSchema(
  {
    formatted: clearable(),
    street_address: clearable(),
    locality: clearable(),
    region: clearable(),
    postal_code: clearable(),
    country: clearable(),
  },
  strict,
);

const optionalFields = {
  email: clearable(512),
  role: Optional(role()),
  is_email_verified: Optional(BooleanSchema()),
  totp_verified: Optional(BooleanSchema({ description: 'false: the second factor must be enrolled again.' })),
  is_active: Optional(BooleanSchema()),
  name: clearable(),
  given_name: clearable(),
  family_name: clearable(),
  middle_name: clearable(),
  nickname: clearable(),
  profile: clearable(),
  picture: clearable(),
  website: clearable(),
  gender: clearable(),
  birthdate: clearable(),
  zoneinfo: clearable(),
  locale: clearable(),
  address: Optional(Union([addressGiven, Null()])),
  phone_number: clearable(),
  phone_number_verified: Optional(BooleanSchema()),
};

const username = () => text(512, '3 to 64 characters, unique ignoring case.');
const password = () =>
  text(
    1024,
    '`password_min_length` to 128 characters, at least 15 where it is the only factor; never shown again.',
  );

/** Of somebody who comes from another system. */
export const importedUserFields = { username: username(), ...optionalFields };

export const newUserSchema = ObjectSchema(
  { username: username(), password: password(), ...optionalFields },
  strict,
);

export const userChangesSchema = ObjectSchema(
  { username: Optional(username()), password: Optional(password()), ...optionalFields },
  strict,
);

/** @returns the same in the words of the domain */
export function toAccountChanges(given: Static<typeof userChangesSchema>): AccountChanges {
  const { username, password, email, role, is_active, is_email_verified, totp_verified, ...rest } = given;
  const { address, phone_number, phone_number_verified, ...profile } = rest;
  return {
    username,
    password,
    email,
    role,
    isActive: is_active,
    isEmailVerified: is_email_verified,
    totpVerified: totp_verified,
    profile,
    address,
    phoneNumber: phone_number,
    isPhoneNumberVerified: phone_number_verified,
  };
}
