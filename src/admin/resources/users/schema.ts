// The JSON of users: what the API returns (decisions §6) and accepts, and its conversion to the domain's types.
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
import type { AccountChanges } from '../../../accounts/index.ts';
import {
  DOCUMENTED,
  emailKeywords,
  type Keywords,
  lines,
  nullable,
  oneLine,
  strict,
  timestamp,
} from '../../api/schema-parts.ts';

const examples = {
  username: 'grace.hopper',
  email: 'grace@example.com',
  password: 'seven tall lanterns',
  name: 'Grace Hopper',
  given_name: 'Grace',
  family_name: 'Hopper',
  middle_name: 'Brewster',
  nickname: 'Grace',
  profile: 'https://example.com/grace',
  picture: 'https://example.com/grace.png',
  website: 'https://example.com/',
  gender: 'female',
  birthdate: '1906-12-09',
  zoneinfo: 'America/New_York',
  locale: 'en-US',
  formatted: '1 Main Street, Arlington, VA 22201, USA',
  street_address: '1 Main Street',
  locality: 'Arlington',
  region: 'VA',
  postal_code: '22201',
  country: 'USA',
  phone_number: '+1 202 555 0117',
} as const;

const shortText = { maxLength: 255, pattern: oneLine };
const shortLines = { maxLength: 255, pattern: lines };
/** An empty text clears it, as null does. */
const link = { pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^ ]+)?$' };
const zone = { maxLength: 64, pattern: '^(?:[A-Za-z+-][A-Za-z0-9:/_+-]*)?$' };
const language = { maxLength: 64, pattern: '^(?:[A-Za-z]{1,8}(?:[_-][A-Za-z0-9]{1,8})*)?$' };

/** The rules of src/accounts as far as JSON Schema can express them. */
const rules: Readonly<Partial<Record<keyof typeof examples, Keywords>>> = {
  username: { minLength: 3, maxLength: 64, pattern: '^[\\p{L}\\p{M}\\p{Nd}._@+-]+$' },
  password: { minLength: 8, maxLength: 128 },
  email: { anyOf: [emailKeywords, { const: '' }] },
  name: shortText,
  given_name: shortText,
  family_name: shortText,
  middle_name: shortText,
  nickname: shortText,
  gender: shortText,
  profile: link,
  picture: link,
  website: link,
  birthdate: { pattern: '^(?:[0-9]{4}(?:-[0-9]{2}-[0-9]{2})?)?$' },
  zoneinfo: zone,
  locale: language,
  formatted: shortLines,
  street_address: shortLines,
  locality: shortText,
  region: shortText,
  postal_code: shortText,
  country: shortText,
  phone_number: { pattern: '^(?:[+]?[0-9][0-9 ().-]{1,30}[0-9])?$' },
};

// Validates the length alone; src/accounts validates the texts.
const text = (name: keyof typeof examples, maxLength: number, description?: string) =>
  StringSchema({
    maxLength,
    ...(description !== undefined && { description }),
    examples: [examples[name]],
    ...(rules[name] && { [DOCUMENTED]: rules[name] }),
  });
const clearable = (name: keyof typeof examples, maxLength = 2048) =>
  Optional(nullable(text(name, maxLength)));
const shown = (name: keyof typeof examples) => nullable(StringSchema({ examples: [examples[name]] }));

const role = () => Enum(['user', 'auditor', 'admin']);

const addressShown = ObjectSchema(
  {
    formatted: shown('formatted'),
    street_address: shown('street_address'),
    locality: shown('locality'),
    region: shown('region'),
    postal_code: shown('postal_code'),
    country: shown('country'),
  },
  strict,
);

const profileShown = {
  name: shown('name'),
  given_name: shown('given_name'),
  family_name: shown('family_name'),
  middle_name: shown('middle_name'),
  nickname: shown('nickname'),
  profile: shown('profile'),
  picture: shown('picture'),
  website: shown('website'),
  gender: shown('gender'),
  birthdate: shown('birthdate'),
  zoneinfo: shown('zoneinfo'),
  locale: shown('locale'),
};

export const userSchema = ObjectSchema(
  {
    id: StringSchema(),
    username: StringSchema({ examples: [examples.username] }),
    email: shown('email'),
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
    phone_number: shown('phone_number'),
    phone_number_verified: BooleanSchema(),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  strict,
);

export type User = Static<typeof userSchema>;

const addressGiven = ObjectSchema(
  {
    formatted: clearable('formatted'),
    street_address: clearable('street_address'),
    locality: clearable('locality'),
    region: clearable('region'),
    postal_code: clearable('postal_code'),
    country: clearable('country'),
  },
  strict,
);

const optionalFields = {
  email: clearable('email', 512),
  role: Optional(role()),
  is_email_verified: Optional(BooleanSchema()),
  totp_verified: Optional(
    BooleanSchema({ description: 'false: every second factor is removed and must be enrolled again.' }),
  ),
  is_active: Optional(BooleanSchema()),
  name: clearable('name'),
  given_name: clearable('given_name'),
  family_name: clearable('family_name'),
  middle_name: clearable('middle_name'),
  nickname: clearable('nickname'),
  profile: clearable('profile'),
  picture: clearable('picture'),
  website: clearable('website'),
  gender: clearable('gender'),
  birthdate: clearable('birthdate'),
  zoneinfo: clearable('zoneinfo'),
  locale: clearable('locale'),
  address: Optional(Union([addressGiven, Null()])),
  phone_number: clearable('phone_number'),
  phone_number_verified: Optional(BooleanSchema()),
};

const username = () => text('username', 512, '3 to 64 characters, unique ignoring case.');
const password = () =>
  text(
    'password',
    1024,
    '`password_min_length` to 128 characters, at least 15 where it is the only factor; never shown again.',
  );

/** A user imported from another system. */
export const importedUserFields = { username: username(), ...optionalFields };

export const newUserSchema = ObjectSchema(
  { username: username(), password: password(), ...optionalFields },
  strict,
);

export const userChangesSchema = ObjectSchema(
  { username: Optional(username()), password: Optional(password()), ...optionalFields },
  strict,
);

/** @returns the same in the domain's types */
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
