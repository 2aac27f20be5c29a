// Owns the settings of second factors: who is asked for one, and how long codes and trusted browsers are good.
import { choice, flag, integer } from './definitions.ts';

const DAY = 86_400;

export const secondFactorDefinitions = {
  mfa_mode: choice({
    group: 'Second factor',
    default: 'optional',
    choices: ['off', 'optional', 'required'],
    description:
      'Whether a second factor is asked for: never, of those who have one, or of everybody. With `required` it is asked of ' +
      'sessions that began without one, too, at their next sign-in to an application and on the pages here.',
  }),
  admin_mfa: choice({
    group: 'Second factor',
    default: 'offered',
    choices: ['offered', 'required'],
    description:
      'Of administrators and auditors: `offered` asks them for a passkey or an authenticator app until there is one, which ' +
      'they may put off for a day; with `required` nothing less than two factors opens the Admin UI and the admin API.',
  }),
  allow_email_codes: flag({
    group: 'Second factor',
    default: true,
    description:
      'Whether people other than administrators may choose codes by mail as their second factor. Who has, keeps them.',
  }),
  email_code_seconds: integer({
    group: 'Second factor',
    default: 600,
    min: 60,
    max: 600,
    description: 'How long a code sent by mail is good, in seconds.',
  }),
  trusted_device_seconds: integer({
    group: 'Second factor',
    default: 30 * DAY,
    min: 60,
    max: 365 * DAY,
    description:
      'For this long after its last use a trusted browser is not asked for the second factor, in seconds.',
  }),
};
