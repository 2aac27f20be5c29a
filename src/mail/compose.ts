// Builds the message (RFC 5322, MIME). Addresses are validated single ones, passed as objects, so that no library parses an
// address list. Nothing is fetched; what is attached is the operator's logo, as part of the HTML.

import { invalid } from '../errors.ts';
import { isMailAddress } from '../model/mail-address.ts';
import type { MailLogo, RenderedMail } from './templates.ts';

export interface Sender {
  readonly name: string;
  readonly address: string;
  /** '' for none. */
  readonly replyTo: string;
}

/** @throws AppError request.invalid for anything but one plain address in stored form */
export function checkRecipient(to: string): void {
  if (isMailAddress(to)) return;
  throw invalid({ to: 'Must be one e-mail address.' });
}

const attached = ({ contentType, bytes }: MailLogo) => ({
  cid: 'logo',
  content: Buffer.from(bytes),
  contentType,
  contentDisposition: 'inline' as const,
  filename: contentType === 'image/png' ? 'logo.png' : 'logo.jpg',
});

/** For a header: no line ends, nothing invisible, and no encoded word (RFC 2047) that would turn into other text. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
    .replaceAll('=?', '= ?')
    .trim();

/** The picture in the HTML, where it was rendered with one (templates/mail/layout.html.njk). */
const picture = /<img src="cid:logo"[^>]*>/;

export const wantsLogo = ({ html }: Pick<RenderedMail, 'html'>): boolean => picture.test(html);

/** A logo that was removed while the mail waited: its name stands in its place. */
const withoutPicture = (html: string): string =>
  html.replace(picture, (image) => /alt="([^"]*)"/.exec(image)?.[1] ?? '');

/**
 * @param logo for mails that want one; undefined where there is none any more
 * @param mail.id becomes the Message-ID: a copy that is sent twice after a crash is the same mail to its reader's program
 * @param mail.createdAt epoch ms
 */
export function compose(
  mail: RenderedMail & { readonly id: string; readonly to: string; readonly createdAt: number },
  sender: Sender,
  logo?: MailLogo,
): Promise<Buffer> {
  checkRecipient(mail.to);
  return build(mail, sender, logo);
}

async function build(mail: Parameters<typeof compose>[0], sender: Sender, logo?: MailLogo): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    from: { name: oneLine(sender.name), address: sender.address },
    to: { name: '', address: mail.to },
    ...(sender.replyTo !== '' && { replyTo: { name: '', address: sender.replyTo } }),
    subject: oneLine(mail.subject),
    text: mail.text,
    html: logo === undefined ? withoutPicture(mail.html) : mail.html,
    ...(logo !== undefined && wantsLogo(mail) && { attachments: [attached(logo)] }),
    messageId: `<${mail.id}@${sender.address.split('@').at(-1)}>`,
    date: new Date(mail.createdAt),
    // RFC 3834 §5: no out-of-office answers, which the second keeps away from Exchange. No List-Unsubscribe: whoever got this
    // asked for it, or must hear of it (decision 0032).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
