// Builds the message (RFC 5322, MIME). Addresses are validated single ones, passed as objects, so that no library parses an
// address list (checklist R121). Nothing is attached or fetched.
import { isMailAddress } from '../config/mail-address.ts';
import { AppError } from '../errors.ts';
import type { RenderedMail } from './templates.ts';

export interface Sender {
  readonly name: string;
  readonly address: string;
  /** '' for none. */
  readonly replyTo: string;
}

/** @throws AppError request.invalid for anything but one plain address in stored form */
export function checkRecipient(to: string): void {
  if (isMailAddress(to)) return;
  throw new AppError('request.invalid', { fields: { to: 'Must be one e-mail address.' } });
}

/** For a header: no line ends, nothing invisible, and no encoded word (RFC 2047) that would turn into other text. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
    .replaceAll('=?', '= ?')
    .trim();

/**
 * @param mail.id becomes the Message-ID: a copy that is sent twice after a crash is the same mail to its reader's program
 * @param mail.createdAt epoch ms
 */
export function compose(
  mail: RenderedMail & { readonly id: string; readonly to: string; readonly createdAt: number },
  sender: Sender,
): Promise<Buffer> {
  checkRecipient(mail.to);
  return build(mail, sender);
}

async function build(mail: Parameters<typeof compose>[0], sender: Sender): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    from: { name: oneLine(sender.name), address: sender.address },
    to: { name: '', address: mail.to },
    ...(sender.replyTo !== '' && { replyTo: { name: '', address: sender.replyTo } }),
    subject: oneLine(mail.subject),
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.id}@${sender.address.split('@').at(-1)}>`,
    date: new Date(mail.createdAt),
    // RFC 3834 §5: no out-of-office answers.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
