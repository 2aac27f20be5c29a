import { flag, integer } from '../kinds.ts';
import { setting } from './setting.ts';

const DAY = 86_400;

export const mailedLinksSettings = {
  allow_password_reset: setting(flag, {
    group: 'Links by mail',
    label: 'People may reset their password by e-mail',
    description: 'Whether a forgotten password can be replaced by a link sent to the verified address.',
    absent: true,
    mayShutOut: false,
    withoutMail: { says: 'There is no mail server, so no link to a new password can be sent.' },
  }),
  allow_magic_link: setting(flag, {
    group: 'Links by mail',
    label: 'People may sign in by a mailed link',
    description: 'Whether a link sent to the verified address signs in instead of a password.',
    absent: false,
    mayShutOut: false,
    withoutMail: { says: 'There is no mail server, so no sign-in link can be sent.' },
  }),
  password_reset_link_seconds: setting(integer(60, 3600), {
    group: 'Links by mail',
    label: 'Password reset links expire after',
    description: 'How long a link to set a new password is valid, in seconds.',
    absent: 1800,
    mayShutOut: false,
    unit: 'seconds',
  }),
  email_verification_link_seconds: setting(integer(60, 30 * DAY), {
    group: 'Links by mail',
    label: 'Links that confirm an address expire after',
    description: 'How long a link to confirm an e-mail address is valid, in seconds.',
    absent: DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  magic_link_seconds: setting(integer(60, 3600), {
    group: 'Links by mail',
    label: 'Sign-in links expire after',
    description: 'How long a link to sign in without a password is valid, in seconds.',
    absent: 900,
    mayShutOut: false,
    unit: 'seconds',
  }),
  invitation_link_seconds: setting(integer(60, 30 * DAY), {
    group: 'Links by mail',
    label: 'Invitations expire after',
    description: 'How long an invitation is valid, in seconds.',
    absent: 7 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
};
