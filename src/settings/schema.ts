// All runtime settings, each once, with default, bounds and description. The type of the values, the API, the Admin UI and
// the documentation are derived from this list.
import { agentDefinitions } from './agents.ts';
import { apiTokenDefinitions } from './api-tokens.ts';
import { brandingDefinitions } from './branding.ts';
import { choice, flag, integer, origins, realms, type SettingDefinition } from './definitions.ts';
import { legacyDefinitions } from './legacy.ts';
import { limitDefinitions } from './limits.ts';
import { mailDefinitions } from './mail.ts';
import { secondFactorDefinitions } from './second-factor.ts';
import { selfServiceDefinitions } from './self-service.ts';
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
  ...apiTokenDefinitions,
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
    description: 'A refresh token expires after this long without use, in seconds.',
  }),
  refresh_token_absolute_seconds: integer({
    group: 'Tokens',
    default: YEAR,
    min: 5,
    max: 10 * YEAR,
    description: 'A refresh token can be rotated for at most this long after the sign-in, in seconds.',
  }),
  browser_refresh_token_seconds: integer({
    group: 'Tokens',
    default: DAY,
    min: 5,
    max: YEAR,
    description:
      'For how long after the sign-in a browser application (public, of type `web`) can rotate its refresh token, in seconds.',
  }),
  refresh_token_grace_seconds: integer({
    group: 'Tokens',
    default: 10,
    min: 0,
    max: 60,
    description: 'For this long after its use, a refresh token still returns the same successor, in seconds.',
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
    description: 'A session expires after this long without use, in seconds.',
  }),
  session_absolute_seconds: integer({
    group: 'Sessions',
    default: 30 * DAY,
    min: 10,
    max: YEAR,
    description: 'A session expires after this long in any case, in seconds.',
  }),
  admin_idle_seconds: integer({
    group: 'Sessions',
    default: 900,
    min: 60,
    max: DAY,
    description:
      'After this long without activity the Admin UI requires a new sign-in, in seconds. It accepts no older sign-in.',
  }),
  interaction_seconds: integer({
    group: 'Sessions',
    default: 3600,
    min: 60,
    max: DAY,
    description: 'How long a user has to complete a sign-in, in seconds.',
  }),
  lockout_threshold: integer({
    group: 'Sign-in',
    default: 5,
    min: 1,
    max: 100,
    description:
      'Consecutive wrong passwords that lock password sign-in in browsers in which the user has not signed in before.',
  }),
  lockout_seconds: integer({
    group: 'Sign-in',
    default: 900,
    min: 1,
    max: 900,
    description:
      'How long a lockout lasts, in seconds. Sessions, tokens, passkeys and mailed links are not affected.',
  }),
  password_min_length: integer({
    group: 'Sign-in',
    default: 8,
    min: 8,
    max: 64,
    description:
      'The minimum length of a new password. At least 15 where a password is the only possible factor: with ' +
      '`auth_mode` `password` and `mfa_mode` `off`. Passwords that people have keep working.',
  }),
  auth_mode: choice({
    group: 'Sign-in',
    default: 'password_and_passkey',
    choices: ['password', 'password_and_passkey', 'passkey_only'],
    description:
      'How users sign in: with a password, with a password or a passkey, or with a passkey only. With `password`, existing ' +
      'passkeys still work as second factors. `passkey_only` requires an administrator with a passkey.',
  }),
  passkey_extra_origins: origins({
    group: 'Sign-in',
    default: '',
    description:
      'Further origins at which the passkeys of this service may be used, separated by spaces ' +
      '(such as https://example.net); they are listed at /.well-known/webauthn.',
  }),
  require_pkce: flag({
    group: 'Sign-in',
    default: false,
    description:
      'Every application must use PKCE with S256. Public, native and self-registered applications (of these not with the ' +
      'legacy profile) must in any case, and each application can require it by itself.',
  }),
  realm_aliases: realms({
    group: 'Sign-in',
    default: '',
    description:
      'Names under which /realms/{name}/protocol/openid-connect/… answers, separated by spaces, for clients of another ' +
      'identity provider. The one in the path of ISSUER always answers; empty: no other, or any where ISSUER has none. ' +
      'All names lead to the same users and applications.',
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
    description: 'How long a link to set a new password is valid, in seconds.',
  }),
  email_verification_link_seconds: integer({
    group: 'Links by mail',
    default: DAY,
    min: 60,
    max: 30 * DAY,
    description: 'How long a link to confirm an e-mail address is valid, in seconds.',
  }),
  magic_link_seconds: integer({
    group: 'Links by mail',
    default: 900,
    min: 60,
    max: 3600,
    description: 'How long a link to sign in without a password is valid, in seconds.',
  }),
  invitation_link_seconds: integer({
    group: 'Links by mail',
    default: 7 * DAY,
    min: 60,
    max: 30 * DAY,
    description: 'How long an invitation is valid, in seconds.',
  }),
  key_rotation_seconds: integer({
    group: 'Operation',
    default: 90 * DAY,
    min: 0,
    max: 10 * YEAR,
    description:
      'How long a key signs tokens before a new one replaces it, in seconds; 0: never. A new key is published a ' +
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
    // A lower bound, so that whoever can change settings cannot erase the latest events.
    min: DAY,
    max: 10 * YEAR,
    description: 'How long events stay in the audit log, in seconds; token events have a separate setting.',
  }),
  retention_token_events_seconds: integer({
    group: 'Operation',
    default: 30 * DAY,
    min: DAY,
    max: 10 * YEAR,
    description:
      'How long token events (issued, refused, counts of refreshes) stay in the audit log, in seconds. A million take about 1.3 GB on the embedded store.',
  }),
  ...selfServiceDefinitions,
  ...signupDefinitions,
  ...agentDefinitions,
  ...legacyDefinitions,
  ...limitDefinitions,
  ...mailDefinitions,
  ...brandingDefinitions,
} as const;

type Definitions = typeof settingDefinitions;
export type SettingKey = keyof Definitions;
type ValueOf<D> = D extends SettingDefinition<infer T> ? T : never;

/** The values that hold now. */
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<Definitions[Key]> };

// Object.keys() loses the names in its type; they are exactly the keys of the list above.
export const settingKeys = Object.keys(settingDefinitions) as readonly SettingKey[];

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(settingDefinitions, key);

// As the interface that all definitions share, not as the union of the types in the list.
export const definitionOf = (key: SettingKey): SettingDefinition<number | boolean | string> =>
  settingDefinitions[key];

export const isSecretSetting = (key: SettingKey): boolean => definitionOf(key).isSecret === true;

type NumberKey = { [Key in SettingKey]: SettingValues[Key] extends number ? Key : never }[SettingKey];

/** Values that are valid one by one but contradict each other; both are named, because either can be changed. */
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
