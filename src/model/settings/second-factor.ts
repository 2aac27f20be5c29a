import { choice, flag, integer } from '../kinds.ts';
import { setting } from './setting.ts';

const DAY = 86_400;

export const secondFactorSettings = {
  mfa_mode: setting(choice({ off: 'Never', optional: 'For users who have one', required: 'For everyone' }), {
    group: 'Second factor',
    label: 'Who needs a second factor',
    description:
      'Whether a second factor is required: never, for users who have one, or for everyone. `required` also applies to ' +
      'existing sessions without one, at their next sign-in to an application or use of the account pages.',
    absent: 'optional',
    mayShutOut: true,
  }),
  admin_mfa: setting(choice({ offered: 'Offered', required: 'Required' }), {
    group: 'Second factor',
    label: 'Second factor of administrators',
    description:
      'For administrators and auditors: `offered` asks them to set up a passkey or an authenticator app, which ' +
      'they can postpone for a day; `required` demands two factors for the Admin UI and the admin API.',
    absent: 'offered',
    mayShutOut: true,
  }),
  allow_email_codes: setting(flag, {
    group: 'Second factor',
    label: 'People may use codes by e-mail',
    description:
      'Whether users other than administrators may choose codes by mail as their second factor. Existing choices stay.',
    absent: true,
    mayShutOut: false,
    withoutMail: { says: 'There is no mail server, so no code can be sent.' },
  }),
  email_code_seconds: setting(integer(60, 600), {
    group: 'Second factor',
    label: 'Codes by e-mail expire after',
    description: 'How long a code sent by mail is valid, in seconds.',
    absent: 600,
    mayShutOut: false,
    unit: 'seconds',
  }),
  trusted_device_seconds: setting(integer(60, 365 * DAY), {
    group: 'Second factor',
    label: 'Trusted browsers are not asked for',
    description:
      'How long after its last use a trusted browser is not asked for the second factor, in seconds.',
    absent: 30 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
};
