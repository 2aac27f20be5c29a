// Sending mail.
import { email, integer, smtpUrl } from './definitions.ts';

const DAY = 86_400;

export const mailDefinitions = {
  smtp_url: smtpUrl({
    group: 'Mail',
    default: '',
    description:
      'The mail server: smtps:// (TLS), smtp+starttls:// (STARTTLS or nothing) or smtp:// (STARTTLS when offered), ' +
      'with user:password@ if it requires them. Empty: mails are kept for administrators to read.',
  }),
  mail_from: email({
    group: 'Mail',
    default: '',
    description: 'The address mails come from. Empty: no-reply@ the host of BASE_URL.',
  }),
  mail_reply_to: email({
    group: 'Mail',
    default: '',
    description: 'The Reply-To address of mails. Empty: the address they come from.',
  }),
  retention_mails_seconds: integer({
    group: 'Mail',
    default: 30 * DAY,
    min: 3600,
    max: 365 * DAY,
    description: 'How long sent, failed and kept mails stay in the list, in seconds.',
  }),
};
