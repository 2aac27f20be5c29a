// Owns the list of runtime settings: every one once, with its default (decisions §5, §8), its bounds and what it means.
// The type of the values, the API, the Admin UI and the documentation are derived from this list.
import { brandingDefinitions } from './branding.ts';
import { choice, email, flag, integer, origins, type SettingDefinition, smtpUrl } from './definitions.ts';
import { limitDefinitions } from './limits.ts';
import { secondFactorDefinitions } from './second-factor.ts';
import { signupDefinitions } from './signup.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;

export const settingDefinitions = {
  access_token_seconds: integer({
    group: 'Tokens',
    default: 900,
    min: 5,
    max: DAY,
    description: 'How long an access token is valid, in seconds.',
  }),
  id_token_seconds: integer({
    group: 'Tokens',
    default: 3600,
    min: 5,
    max: DAY,
    description: 'How long an ID token is valid, in seconds.',
  }),
  refresh_token_idle_seconds: integer({
    group: 'Tokens',
    default: 30 * DAY,
    min: 5,
    max: YEAR,
    description: 'A refresh token that is not used for this long ends, in seconds.',
  }),
  refresh_token_absolute_seconds: integer({
    group: 'Tokens',
    default: YEAR,
    min: 5,
    max: 10 * YEAR,
    description: 'Rotation goes on for at most this long after the sign-in, in seconds.',
  }),
  refresh_token_grace_seconds: integer({
    group: 'Tokens',
    default: 10,
    min: 0,
    max: 60,
    description:
      'For this long a refresh token that was just used is answered again with the same new token, in seconds.',
  }),
  authorization_code_seconds: integer({
    group: 'Tokens',
    default: 60,
    min: 10,
    max: 600,
    description: 'How long an authorization code can be exchanged, in seconds.',
  }),
  session_idle_seconds: integer({
    group: 'Sessions',
    default: 14_400,
    min: 10,
    max: YEAR,
    description: 'A sign-in that is not used for this long ends, in seconds.',
  }),
  session_absolute_seconds: integer({
    group: 'Sessions',
    default: 30 * DAY,
    min: 10,
    max: YEAR,
    description: 'A sign-in ends after this long in any case, in seconds.',
  }),
  admin_idle_seconds: integer({
    group: 'Sessions',
    default: 900,
    min: 60,
    max: DAY,
    description:
      'After this long without a click the Admin UI asks for a new sign-in, and it takes none that is older, in seconds.',
  }),
  interaction_seconds: integer({
    group: 'Sessions',
    default: 3600,
    min: 60,
    max: DAY,
    description: 'How long a person has to complete a sign-in page, in seconds.',
  }),
  lockout_threshold: integer({
    group: 'Sign-in',
    default: 5,
    min: 1,
    max: 100,
    description:
      'Wrong passwords in a row that close password sign-in for browsers in which the user has not signed in before.',
  }),
  lockout_seconds: integer({
    group: 'Sign-in',
    default: 900,
    min: 1,
    max: 900,
    description:
      'How long it stays closed, in seconds. Sessions, tokens, passkeys and mailed links are not affected.',
  }),
  password_min_length: integer({
    group: 'Sign-in',
    default: 8,
    min: 8,
    max: 64,
    description:
      'The fewest characters of a new password. At least 15 where a password is the only factor there can be: with ' +
      '`auth_mode` `password` and `mfa_mode` `off`. Passwords that people have keep working.',
  }),
  auth_mode: choice({
    group: 'Sign-in',
    default: 'password_and_passkey',
    choices: ['password', 'password_and_passkey', 'passkey_only'],
    description:
      'What people sign in with: a password, a password or a passkey, or a passkey alone. With `password`, passkeys that ' +
      'people have still serve as their second factor. `passkey_only` needs an administrator who has a passkey.',
  }),
  passkey_extra_origins: origins({
    group: 'Sign-in',
    default: '',
    description:
      'Further origins at which the passkeys of this service may be used, separated by blanks ' +
      '(such as https://example.net); they are listed at /.well-known/webauthn.',
  }),
  require_pkce: flag({
    group: 'Sign-in',
    default: true,
    description: 'Every application must use PKCE with S256. Public ones must in any case.',
  }),
  ...secondFactorDefinitions,
  allow_password_reset: flag({
    group: 'Links by mail',
    default: true,
    description: 'Whether a forgotten password can be replaced by a link sent to the verified address.',
  }),
  allow_magic_link: flag({
    group: 'Links by mail',
    default: false,
    description: 'Whether a link sent to the verified address signs in instead of a password.',
  }),
  password_reset_link_seconds: integer({
    group: 'Links by mail',
    default: 1800,
    min: 60,
    max: 3600,
    description: 'How long a link to set a new password is good, in seconds.',
  }),
  email_verification_link_seconds: integer({
    group: 'Links by mail',
    default: DAY,
    min: 60,
    max: 30 * DAY,
    description: 'How long a link to confirm an e-mail address is good, in seconds.',
  }),
  magic_link_seconds: integer({
    group: 'Links by mail',
    default: 900,
    min: 60,
    max: 3600,
    description: 'How long a link to sign in without a password is good, in seconds.',
  }),
  invitation_link_seconds: integer({
    group: 'Links by mail',
    default: 7 * DAY,
    min: 60,
    max: 30 * DAY,
    description: 'How long an invitation is good, in seconds.',
  }),
  key_rotation_seconds: integer({
    group: 'Operation',
    default: 90 * DAY,
    min: 0,
    max: 10 * YEAR,
    description:
      'How long a key signs tokens before a new one takes its place, in seconds; 0: for ever. A new key is shown a ' +
      'quarter of an hour before it signs.',
  }),
  purge_interval_seconds: integer({
    group: 'Operation',
    default: 300,
    min: 10,
    max: DAY,
    description: 'How often expired records are removed, in seconds.',
  }),
  retention_sessions_seconds: integer({
    group: 'Operation',
    default: 30 * DAY,
    min: 0,
    max: 10 * YEAR,
    description: 'How long an ended session stays in the list, in seconds.',
  }),
  retention_audit_seconds: integer({
    group: 'Operation',
    default: YEAR,
    // Not less: whoever can change settings must not be able to wipe out the traces of today.
    min: DAY,
    max: 10 * YEAR,
    description:
      'How long events stay in the audit log, in seconds; those of tokens have a time of their own.',
  }),
  retention_token_events_seconds: integer({
    group: 'Operation',
    default: 30 * DAY,
    min: DAY,
    max: 10 * YEAR,
    description:
      'How long token events (issued, refused, counts of refreshes) stay in the audit log, in seconds. A million take about 1.3 GB on the embedded store.',
  }),
  ...signupDefinitions,
  ...limitDefinitions,
  smtp_url: smtpUrl({
    group: 'Mail',
    default: '',
    description:
      'The mail server: smtps:// (TLS), smtp+starttls:// (STARTTLS or nothing) or smtp:// (STARTTLS when offered), ' +
      'with user:password@ where it asks for them. Empty: mails are kept for administrators to read.',
  }),
  mail_from: email({
    group: 'Mail',
    default: '',
    description: 'The address mails come from. Empty: no-reply@ the host of BASE_URL.',
  }),
  mail_reply_to: email({
    group: 'Mail',
    default: '',
    description: 'Where answers to mails go. Empty: to the address they come from.',
  }),
  retention_mails_seconds: integer({
    group: 'Mail',
    default: 30 * DAY,
    min: 3600,
    max: YEAR,
    description: 'How long mails that are sent, given up or kept stay in the list, in seconds.',
  }),
  ...brandingDefinitions,
} as const;

type Definitions = typeof settingDefinitions;
export type SettingKey = keyof Definitions;
type ValueOf<D> = D extends SettingDefinition<infer T> ? T : never;

/** The values that hold now. */
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<Definitions[Key]> };

// Object.keys() forgets the names in its type; they are exactly the keys of the list above.
export const settingKeys = Object.keys(settingDefinitions) as readonly SettingKey[];

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(settingDefinitions, key);

// As the interface that all definitions share, not as the union of the kinds in the list.
export const definitionOf = (key: SettingKey): SettingDefinition<number | boolean | string> =>
  settingDefinitions[key];

export const isSecretSetting = (key: SettingKey): boolean => definitionOf(key).isSecret === true;

type NumberKey = { [Key in SettingKey]: SettingValues[Key] extends number ? Key : never }[SettingKey];

/** What is wrong between values that are right one by one; both sides are named, because either can be mended. */
export function combinationProblems(values: SettingValues): Partial<Record<SettingKey, string>> {
  const problems: Partial<Record<SettingKey, string>> = {};
  const notLonger = (shorter: NumberKey, longer: NumberKey): void => {
    if (values[shorter] <= values[longer]) return;
    problems[shorter] = `Must not be more than ${longer}.`;
    problems[longer] = `Must not be less than ${shorter}.`;
  };
  notLonger('refresh_token_idle_seconds', 'refresh_token_absolute_seconds');
  notLonger('session_idle_seconds', 'session_absolute_seconds');
  return problems;
}
