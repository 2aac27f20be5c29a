import { choice, flag, integer } from './definitions.ts';

const DAY = 86_400;

export const secondFactorDefinitions = {
  mfa_mode: choice({
    group: 'Second factor',
    default: 'optional',
    choices: ['off', 'optional', 'required'],
    description:
      'Whether a second factor is required: never, for users who have one, or for everyone. `required` also applies to ' +
      'existing sessions without one, at their next sign-in to an application or use of the account pages.',
  }),
  admin_mfa: choice({
    group: 'Second factor',
    default: 'offered',
    choices: ['offered', 'required'],
    description:
      'For administrators and auditors: `offered` asks them to set up a passkey or an authenticator app, which ' +
      'they can postpone for a day; `required` demands two factors for the Admin UI and the admin API.',
  }),
  allow_email_codes: flag({
    group: 'Second factor',
    default: true,
    description:
      'Whether users other than administrators may choose codes by mail as their second factor. Existing choices stay.',
  }),
  email_code_seconds: integer({
    group: 'Second factor',
    default: 600,
    min: 60,
    max: 600,
    description: 'How long a code sent by mail is valid, in seconds.',
  }),
  trusted_device_seconds: integer({
    group: 'Second factor',
    default: 30 * DAY,
    min: 60,
    max: 365 * DAY,
    description:
      'How long after its last use a trusted browser is not asked for the second factor, in seconds.',
  }),
};
