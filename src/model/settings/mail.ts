import { integer } from '../kinds.ts';
import { email, smtpUrl } from '../mail-kinds.ts';
import { neverShown, setting } from './setting.ts';

const DAY = 86_400;

export const mailSettings = {
  smtp_url: setting(smtpUrl, {
    group: 'Mail',
    label: 'Address of the mail server',
    description:
      'The mail server: smtps:// (TLS), smtp+starttls:// (STARTTLS or nothing) or smtp:// (STARTTLS when offered), ' +
      'with user:password@ if it requires them. Empty: mails are kept for administrators to read.',
    absent: '',
    mayShutOut: false,
    ...neverShown,
  }),
  mail_from: setting(email, {
    group: 'Mail',
    label: 'Sender of mails',
    description: 'The address mails come from. Empty: no-reply@ the host of BASE_URL.',
    absent: '',
    mayShutOut: false,
  }),
  mail_reply_to: setting(email, {
    group: 'Mail',
    label: 'Reply address of mails',
    description: 'The Reply-To address of mails. Empty: the address they come from.',
    absent: '',
    mayShutOut: false,
  }),
  retention_mails_seconds: setting(integer(3600, 365 * DAY), {
    group: 'Mail',
    label: 'Mails are kept for',
    description: 'How long sent, failed and kept mails stay in the list, in seconds.',
    absent: 30 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
};
