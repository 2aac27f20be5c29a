// The JSON of users: what the API returns (decisions §6) and accepts, and its conversion to the domain's types.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  type Static,
  String as StringSchema,
} from 'typebox';
import { oneLine, severalLines } from '../../../model/text-kinds.ts';
import {
  createdAt,
  DOCUMENTED,
  emailKeywords,
  type Keywords,
  nullable,
  strict,
  timestamp,
  updatedAt,
} from '../../api/schema-parts.ts';
import { stoppedEmailChange } from './stopped-email-change.ts';

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

const meanings: Readonly<Record<keyof typeof examples, string>> = {
  username: 'The name to sign in with: 3 to 64 characters, unique ignoring case.',
  email: 'The e-mail address, unique ignoring case.',
  password:
    'The password: `password_min_length` to 128 characters, at least 15 where it is the only factor; never shown again.',
  name: 'The full name (claim `name`).',
  given_name: 'The given names (claim `given_name`).',
  family_name: 'The family name (claim `family_name`).',
  middle_name: 'The middle names (claim `middle_name`).',
  nickname: 'The nickname (claim `nickname`).',
  profile: 'The address of a profile page (claim `profile`).',
  picture: 'The address of a picture (claim `picture` of users who gave none themselves).',
  website: 'The address of a web page (claim `website`).',
  gender: 'The gender (claim `gender`).',
  birthdate: 'The birthday as YYYY-MM-DD, with 0000 for an unknown year, or YYYY (claim `birthdate`).',
  zoneinfo: 'The time zone (claim `zoneinfo`).',
  locale: 'The language, for mails and pages too (claim `locale`).',
  formatted: 'The full address as on an envelope.',
  street_address: 'Street and number.',
  locality: 'City.',
  region: 'State or province.',
  postal_code: 'Postal code.',
  country: 'Country.',
  phone_number: 'The telephone number (claim `phone_number`).',
};

const shortText = { maxLength: 255, pattern: oneLine };
const shortLines = { maxLength: 255, pattern: severalLines };
/** An empty text clears it, as null does. */
const link = { pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^ ]+)?$' };
const zone = { maxLength: 64, pattern: '^(?:[A-Za-z+-][A-Za-z0-9:/_+-]*)?$' };
/** RFC 5646 §2.1 without the tags of old; `_` in place of `-`, as some write it. */
const languageParts = [
  '(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})',
  '(?:[_-][A-Za-z]{4})?',
  '(?:[_-](?:[A-Za-z]{2}|[0-9]{3}))?',
  '(?:[_-](?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*',
  '(?:[_-][A-WYZa-wyz0-9](?:[_-][A-Za-z0-9]{2,8})+)*',
  '(?:[_-][Xx](?:[_-][A-Za-z0-9]{1,8})+)?',
];
const language = { maxLength: 64, pattern: `^(?:${languageParts.join('')})?$` };

/** The rules of src/accounts as far as JSON Schema can express them. */
const rules: Readonly<Partial<Record<keyof typeof examples, Keywords>>> = {
  username: { minLength: 3, maxLength: 64, pattern: '^[._@+-]*[\\p{L}\\p{Nd}][\\p{L}\\p{M}\\p{Nd}._@+-]*$' },
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
  birthdate: { pattern: '^(?:[0-9]{4}(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))?)?$' },
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
const text = (name: keyof typeof examples, maxLength: number) =>
  StringSchema({
    maxLength,
    description: meanings[name],
    examples: [examples[name]],
    ...(rules[name] && { [DOCUMENTED]: rules[name] }),
  });
const clearable = (name: keyof typeof examples, maxLength = 2048) =>
  Optional(nullable(text(name, maxLength), { description: meanings[name] }));
const shown = (name: keyof typeof examples) =>
  nullable(StringSchema({ examples: [examples[name]] }), { description: meanings[name] });

const otherEmail = (keywords: object) => StringSchema({ examples: ['grace@work.example'], ...keywords });
const role = () =>
  Enum(['user', 'auditor', 'admin'], {
    description: '`admin`: may use the Admin UI and this API; `auditor`: may only read there.',
  });
const isEmailVerified = () =>
  BooleanSchema({ description: 'Whether the e-mail address is known to belong to the user.' });
const isActive = () =>
  BooleanSchema({ description: 'Whether the account is active. Deactivated users cannot sign in.' });
const isPhoneNumberVerified = () =>
  BooleanSchema({ description: 'Whether the telephone number is known to belong to the user.' });
const addressMeaning = { description: 'The postal address (claim `address`).' };

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
    id: StringSchema({ description: 'The ID of the user, and the `sub` of tokens.' }),
    username: StringSchema({ description: meanings.username, examples: [examples.username] }),
    email: shown('email'),
    other_emails: ArraySchema(otherEmail({}), {
      description: 'Further addresses that the user has verified; they count while `email` is verified.',
    }),
    role: role(),
    is_email_verified: isEmailVerified(),
    totp_verified: BooleanSchema({ description: 'Whether an authenticator app is enrolled.' }),
    is_active: isActive(),
    deletion_due_at: nullable(timestamp(), {
      description:
        'When the user is deleted, because they asked for it; until then they can only sign in to undo that. null: they did not.',
    }),
    stopped_email_change: stoppedEmailChange(),
    locked_until: nullable(timestamp(), {
      description:
        'Until when browsers that are unknown to the account cannot sign in with a password; null: not locked.',
    }),
    failed_login_attempts: Integer({ description: 'Wrong passwords since the user last signed in.' }),
    last_login_at: nullable(timestamp(), { description: 'When the user last signed in; null: never.' }),
    avatar_id: nullable(StringSchema(), {
      description:
        'Of the picture that the user gave, which is at `/avatars/{avatar_id}/256.jpg` below the base URL, and smaller at `96.jpg`. null: none.',
    }),
    password_changed_at: nullable(timestamp(), {
      description: 'When the password was last set; null: there is none.',
    }),
    passkey_count: Integer({ description: 'How many passkeys the user has.' }),
    groups: ArraySchema(StringSchema(), { description: 'The names of their groups.' }),
    ...profileShown,
    address: nullable(addressShown, addressMeaning),
    phone_number: shown('phone_number'),
    phone_number_verified: isPhoneNumberVerified(),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  { ...strict, description: 'A user.' },
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
  other_emails: Optional(
    ArraySchema(otherEmail({ maxLength: 512, [DOCUMENTED]: emailKeywords }), {
      maxItems: 4,
      description:
        'Further addresses that are known to be of the user. Of an existing user they can only be removed: owners add them.',
    }),
  ),
  role: Optional(role()),
  is_email_verified: Optional(isEmailVerified()),
  totp_verified: Optional(
    BooleanSchema({
      description: '`false`: every second factor is removed, and the user enrols again at the next sign-in.',
    }),
  ),
  is_active: Optional(isActive()),
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
  address: Optional(nullable(addressGiven, addressMeaning)),
  phone_number: clearable('phone_number'),
  phone_number_verified: Optional(isPhoneNumberVerified()),
};

const username = () => text('username', 512);
const password = () => text('password', 1024);

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
