// The own texts of one mail in one language, on the wire, and what is stored of them.
import { Partial, type Static } from 'typebox';
import { invalid } from '../../../errors.ts';
import { blocksOf, MAX_MAIL_TEXT, type MailTexts, mailBlocks, problemOf } from '../../../mail/index.ts';
import type { MailTemplate } from '../../../model/mails.ts';
import { oneLine } from '../../../model/text-kinds.ts';
import type { Language } from '../../../views/index.ts';
import { object, orNull, strict, string } from '../../api/schema-parts.ts';

const text = (description: string) =>
  orNull(string({ minLength: 1, maxLength: MAX_MAIL_TEXT, pattern: oneLine }), description);

const members = {
  subject: text(
    'The subject, which is the title of the e-mail too; null: as shipped, as for each of the others.',
  ),
  lead: text('What it is about, above the button or code.'),
  lead_by: text('The same where it is known who invites.'),
  application: text('A sentence about the application of an invitation.'),
  button: text('The words of the button.'),
  not_you: text('What to do if it was someone else.'),
  closing: text('A last sentence; none is shipped.'),
};
export const textsSchema = object(members, 'The own texts of an e-mail in a language.');
export const textsBody = Partial(object(members), strict);
export type MailTextsBody = Static<typeof textsBody>;

/** @returns the own texts of this mail by block, null where it has the shipped one */
export function ownTextsOf(all: MailTexts | undefined, mail: MailTemplate, language: Language) {
  const own = all?.[language] ?? {};
  const of = (block: (typeof mailBlocks)[number]) => own[`${mail}.${block}`] ?? null;
  return {
    subject: of('subject'),
    lead: of('lead'),
    lead_by: of('lead_by'),
    application: of('application'),
    button: of('button'),
    not_you: of('not_you'),
    closing: of('closing'),
  };
}

/** @throws AppError request.invalid that names each text which cannot stand where it is */
export function textsWith(
  all: MailTexts | undefined,
  mail: MailTemplate,
  language: Language,
  body: MailTextsBody,
): MailTexts {
  const blocks = blocksOf(mail, language);
  const fields: Record<string, string> = {};
  const own = new Map(Object.entries(all?.[language] ?? {}));
  for (const name of mailBlocks) {
    const written = body[name] ?? null;
    own.delete(`${mail}.${name}`);
    if (written === null) continue;
    const block = blocks.find((one) => one.block === name);
    const problem = block === undefined ? 'This e-mail has no such text.' : problemOf(block, written);
    if (problem !== undefined) fields[name] = problem;
    else if (written !== block?.shipped) own.set(`${mail}.${name}`, written);
  }
  if (Object.keys(fields).length > 0) throw invalid(fields);
  const next = { ...all, [language]: Object.fromEntries(own) };
  return Object.fromEntries(Object.entries(next).filter(([, texts]) => Object.keys(texts).length > 0));
}
