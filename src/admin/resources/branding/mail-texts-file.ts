// The own texts of all mails as one document: what an export is, and what an import takes, by the rules of each text.
import { Record as RecordSchema, type Static, Unknown } from 'typebox';
import { AppError, invalid } from '../../../errors.ts';
import { type MailTexts, mailBlocks } from '../../../mail/index.ts';
import { isMail, mailNames } from '../../../model/mails.ts';
import { isLanguage, languages } from '../../../views/index.ts';
import { EXPECTED } from '../../api/expected.ts';
import { DOCUMENTED, object, oneOf, string } from '../../api/schema-parts.ts';
import { createValidator } from '../../api/validate.ts';
import { textsBody, textsWith } from './mail-text-schema.ts';

/** Names are judged one by one (`allTextsIn`), so that what is wrong is named. */
const all = () =>
  RecordSchema(string(), RecordSchema(string(), Unknown()), {
    description: 'Texts by language and e-mail. A text that is not given is as shipped.',
    examples: [{ en: { invitation: { subject: 'Join {product}' } } }],
    [EXPECTED]: 'texts by language and e-mail',
    [DOCUMENTED]: {
      propertyNames: { enum: [...languages] },
      additionalProperties: {
        type: 'object',
        propertyNames: { enum: [...mailNames] },
        additionalProperties: {
          type: 'object',
          propertyNames: { enum: [...mailBlocks] },
          additionalProperties: { type: ['string', 'null'] },
        },
      },
    },
  });

export const allTextsBody = object({ texts: all() });

export const mailTextsFileSchema = object(
  {
    kind: oneOf(['latchkey-mail-texts'], 'What this is, so that no other file is taken for one.'),
    texts: all(),
  },
  'The own texts of all e-mails.',
);

const fileCheck = createValidator(mailTextsFileSchema, 'json');
export const readMailTextsFile = (value: unknown) => fileCheck.parse(value);

/** By language, mail and block, as the wire has them; stored are the last two as one name. */
export function mailTextsFileOf(texts: MailTexts | undefined): Static<typeof mailTextsFileSchema> {
  const byMail = (own: Readonly<Record<string, string>>) => {
    const mails: Record<string, Record<string, string>> = {};
    for (const [key, text] of Object.entries(own)) {
      const [mail = '', block = ''] = key.split('.');
      mails[mail] = { ...mails[mail], [block]: text };
    }
    return mails;
  };
  const each = Object.entries(texts ?? {}).map(([language, own]) => [language, byMail(own)] as const);
  return { kind: 'latchkey-mail-texts', texts: Object.fromEntries(each) };
}

/** A file can have thousands of wrong ones. */
const MAX_PROBLEMS = 50;
const MAX_NAME = 100;

const textsCheck = createValidator(textsBody, '');

/** @throws AppError request.invalid that names each text which cannot stand where it is */
export function allTextsIn(given: Static<typeof allTextsBody>['texts']): MailTexts {
  const problems: [name: string, problem: string][] = [];
  let texts: MailTexts = {};
  for (const [language, mails] of Object.entries(given)) {
    if (!isLanguage(language)) {
      problems.push([`texts.${language}`, 'There are no e-mails in this language.']);
      continue;
    }
    for (const [mail, own] of Object.entries(mails)) {
      const name = `texts.${language}.${mail}`;
      if (!isMail(mail)) {
        problems.push([name, 'There is no such e-mail.']);
        continue;
      }
      try {
        texts = textsWith(texts, mail, language, textsCheck.parse(own));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        for (const [block, problem] of Object.entries(error.fields ?? {}))
          problems.push([block === '' ? name : `${name}.${block}`, problem]);
      }
    }
  }
  if (problems.length === 0) return texts;
  const named = problems.slice(0, MAX_PROBLEMS).map(([name, problem]) => [name.slice(0, MAX_NAME), problem]);
  throw invalid(Object.fromEntries(named));
}
