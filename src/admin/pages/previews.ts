// What pages of the Admin UI can ask of previews (console/previews.ts).
import type { Look } from '../../branding/index.ts';
import type { MailTexts } from '../../mail/index.ts';
import type { MailTemplate } from '../../model/mails.ts';
import type { ContrastPair, Language } from '../../views/index.ts';

export interface SampleRequest {
  /** Of a sample of a page, or `mail-` and the name of a mail. */
  readonly name: string;
  readonly language: Language;
  readonly scheme: 'light' | 'dark';
  /** Whose pages; undefined: of no application. */
  readonly clientId: string | undefined;
  /** What a form kept; undefined, expired or another administrator's: what is stored. */
  readonly draft: string | undefined;
}

export interface Previews {
  /** @throws AppError request.malformed for a name of another form */
  keep(draft: string, look: Look): Promise<void>;
  /** The same for the texts of mails. */
  keepMails(draft: string, texts: MailTexts): Promise<void>;
  /** The mail with made-up values, and what is wrong with it. */
  mail(
    mail: MailTemplate,
    language: Language,
    texts: MailTexts | undefined,
  ): { readonly subject: string; readonly text: string; readonly problems: readonly string[] };
  contrasts(clientId: string | undefined, look: Look): readonly ContrastPair[];
  /** Sends the page or the mail. @throws AppError request.not_found */
  show(asked: SampleRequest): Promise<void>;
}
