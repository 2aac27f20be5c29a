// The texts of mails that an administrator wrote in place of shipped ones. A change makes a new version of all of them together.
import type { SavedLook } from '../../../branding/index.ts';
import { AppError } from '../../../errors.ts';
import type { MailTexts } from '../../../mail/index.ts';
import { isMail, type MailTemplate, mailNames } from '../../../model/mails.ts';
import { isLanguage, type Language, languages } from '../../../views/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import { array, object, oneOf, string } from '../../api/schema-parts.ts';
import { ownTextsOf, textsBody, textsSchema, textsWith } from './mail-text-schema.ts';
import { allTextsBody, allTextsIn, mailTextsFileOf, mailTextsFileSchema } from './mail-texts-file.ts';
import { nameOf, restoreBody, shownVersion, versionItems, versionMembers } from './resource.ts';

const params = object({
  mail: oneOf([...mailNames], 'The name of the e-mail.'),
  language: oneOf([...languages], 'The language of its readers.'),
});
const listSchema = object(
  {
    items: array(
      object(
        {
          mail: string('Its name.'),
          languages: array(string(), 'Those in which it has texts of its own.'),
        },
        'An e-mail.',
      ),
      'All e-mails.',
    ),
  },
  'The e-mails that there are.',
);
const versionsSchema = object(
  { items: versionItems(object(versionMembers, 'A version of the texts of all e-mails.')) },
  'The versions of the texts of e-mails.',
);

/** Every text of every e-mail in every language, as JSON: more than any installation writes. */
const ALL_BYTES = 512 * 1024;

const lookOf = (texts: MailTexts) => (Object.keys(texts).length === 0 ? {} : { mails: texts });
const recorded = { event: 'branding.changed', target: 'setting', isBodyShown: true } as const;
const described = { answer: textsSchema, hasVersion: true } as const;

function answerOf({ look, version }: SavedLook, mail: MailTemplate, language: Language) {
  return { data: ownTextsOf(look.mails, mail, language), version };
}

/** The schema has admitted these names alone. */
function named({ mail, language }: { readonly mail: string; readonly language: string }) {
  if (!isMail(mail) || !isLanguage(language)) throw new AppError('request.not_found');
  return { mail, language };
}

export const mailTexts = defineRoutes('Branding', (on) => ({
  list: on.route('GET /branding/mails', {
    summary: 'List the e-mails, and in which languages they have texts of their own',
    answer: listSchema,
    hasVersion: true,
    async run(_, { looks }) {
      const { look, version } = await looks.read('mails');
      const edited = (mail: string) =>
        languages.filter((language) =>
          Object.keys(look.mails?.[language] ?? {}).some((key) => key.startsWith(`${mail}.`)),
        );
      return { data: { items: mailNames.map((mail) => ({ mail, languages: edited(mail) })) }, version };
    },
  }),
  replaceAll: on.route('PUT /branding/mails', {
    hasTarget: true,
    recorded,
    summary: 'Replace the own texts of all e-mails: what is not given is as shipped',
    body: allTextsBody,
    bodyBytes: ALL_BYTES,
    answer: mailTextsFileSchema,
    hasVersion: true,
    async run({ body, actor, ifVersion }, { looks }) {
      const next = lookOf(allTextsIn(body.texts));
      const { look, version } = await looks.save('mails', next, nameOf(actor), { ifVersion });
      return { data: mailTextsFileOf(look.mails), version };
    },
  }),
  export: on.route('GET /branding/mails/export', {
    summary: 'Export the own texts of all e-mails',
    answer: mailTextsFileSchema,
    hasVersion: true,
    async run(_, { looks }) {
      const { look, version } = await looks.read('mails');
      return { data: mailTextsFileOf(look.mails), version };
    },
  }),
  versions: on.route('GET /branding/mails/versions', {
    summary: 'List the versions of the texts of e-mails',
    answer: versionsSchema,
    async run(_, { looks }) {
      return { data: { items: (await looks.versions('mails')).map(shownVersion) } };
    },
  }),
  restore: on.route('POST /branding/mails/restore', {
    hasTarget: true,
    recorded: { ...recorded, event: 'branding.restored' },
    summary: 'Bring back an earlier version of the texts of e-mails',
    body: restoreBody,
    async run({ body, actor, ifVersion }, { looks }) {
      await looks.restore('mails', body.version, nameOf(actor), { ifVersion });
      return { data: undefined };
    },
  }),
  read: on.route('GET /branding/mails/{mail}/{language}', {
    summary: 'Read the own texts of an e-mail in a language',
    params,
    ...described,
    async run({ params: asked }, { looks }) {
      const { mail, language } = named(asked);
      return answerOf(await looks.read('mails'), mail, language);
    },
  }),
  replace: on.route('PUT /branding/mails/{mail}/{language}', {
    hasTarget: true,
    recorded,
    summary: 'Replace the own texts of an e-mail in a language: what is not given is as shipped',
    params,
    body: textsBody,
    ...described,
    async run({ params: asked, body, actor, ifVersion }, { looks }) {
      const { mail, language } = named(asked);
      const { look, version } = await looks.read('mails');
      if (ifVersion !== undefined && ifVersion !== version) throw new AppError('branding.changed');
      const next = lookOf(textsWith(look.mails, mail, language, body));
      const saved = await looks.save('mails', next, nameOf(actor), { ifVersion: version });
      return answerOf(saved, mail, language);
    },
  }),
}));
