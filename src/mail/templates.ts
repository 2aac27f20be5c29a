// What a mail is made of. Which there are: src/model/mails.ts. Rendering is passed in.
import type { MailTemplate } from '../model/mails.ts';
import type { LogoSize } from '../views/index.ts';

/** A picture that is sent along; none is ever fetched. Programs show no SVG. */
export interface MailLogo extends LogoSize {
  readonly contentType: 'image/png' | 'image/jpeg';
  readonly bytes: Uint8Array;
}

/**
 * Besides what a template needs, every mail can contain `name` (the person's), `username`, `ipAddress`, `device` (a name of our own such as
 * "Firefox on Windows", never a User-Agent), `at` (epoch ms; default: the time of queueing) and `timeZone` (the reader's), and a
 * notice a `url` for its button.
 */
export type MailValues = Readonly<Record<string, string | number>>;

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** @param language a BCP 47 tag, or undefined for the fallback */
export type RenderMail = (
  template: MailTemplate,
  values: MailValues,
  language: string | undefined,
  logo?: LogoSize,
) => RenderedMail;
