// The texts of mails that an administrator may write anew, for one language each. They are plain: what a mail is for (its code, its
// button, how long it works, who asked) is part of every mail and no text, so that no text can leave it out or lead elsewhere.
import type { MailTemplate } from '../model/mails.ts';
import { type Language, pageStrings, type Strings } from '../views/index.ts';
import { looksLikeAddress } from './values.ts';

/** In the order in which a mail has them. */
export const mailBlocks = [
  'subject',
  'lead',
  'lead_by',
  'application',
  'button',
  'not_you',
  'closing',
] as const;
export type MailBlock = (typeof mailBlocks)[number];

/** By language and `<mail>.<block>`. */
export type MailTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface BlockText {
  readonly block: MailBlock;
  /** As shipped; '' for the closing, which no mail has by itself. */
  readonly shipped: string;
  /** What may stand in it, in braces. */
  readonly placeholders: readonly string[];
  /** Those of them that it must have: the mail says them nowhere else. */
  readonly needed: readonly string[];
}

export const MAX_TEXT = 500;
/** Beside the product's name as shipped: what lists of mails show. */
const MAX_SUBJECT = 60;
const LONGEST_NAME = 'Latchkey';

const braces = /\{(\w+)\}/g;
const namesIn = (text: string): string[] => [...text.matchAll(braces)].map(([, name = '']) => name);

let strings: Strings | undefined;

/** The texts that this mail has in that language. */
export function blocksOf(mail: MailTemplate, language: Language): BlockText[] {
  strings ??= pageStrings();
  return mailBlocks.flatMap((block) => {
    const shipped =
      strings?.find(language, `mail.${mail}.${block}`) ?? (block === 'closing' ? '' : undefined);
    if (shipped === undefined) return [];
    const needed = namesIn(shipped).filter((name) => name !== 'product');
    return [{ block, shipped, placeholders: ['product', ...needed], needed }];
  });
}

/** @returns why this text cannot stand there; undefined: it can */
export function problemOf({ block, placeholders, needed }: BlockText, text: string): string | undefined {
  const used = namesIn(text);
  const unknown = used.find((name) => !placeholders.includes(name));
  if (unknown !== undefined)
    return `There is no {${unknown}} in this text. It may have ${placeholders.map((name) => `{${name}}`).join(', ')}.`;
  const missing = needed.find((name) => !used.includes(name));
  if (missing !== undefined) return `Must contain {${missing}}: this e-mail says it nowhere else.`;
  const words = text.replace(braces, '');
  if (/[{}]/.test(words)) return 'A brace belongs to a placeholder, such as {product}.';
  if (/[<>]/.test(words)) return 'Write plain text, without < and >.';
  if (looksLikeAddress.test(words))
    return 'Write no address and nothing that looks like one: e-mail programs would make a second link of it.';
  if (block === 'subject' && text.replaceAll('{product}', LONGEST_NAME).length > MAX_SUBJECT)
    return `A subject has at most ${MAX_SUBJECT} characters: lists of e-mails cut off the rest.`;
  if (text.length > MAX_TEXT) return `A text has at most ${MAX_TEXT} characters.`;
  return undefined;
}
