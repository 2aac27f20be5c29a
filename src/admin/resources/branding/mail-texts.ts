// The texts of mails that an administrator wrote in place of shipped ones. A change makes a new version of all of them together.
import {
  Array as ArraySchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Partial,
  type Static,
  String as StringSchema,
} from 'typebox';
import type { SavedLook } from '../../../branding/index.ts';
import { AppError } from '../../../errors.ts';
import {
  blocksOf,
  isMail,
  MAX_MAIL_TEXT,
  type MailTemplate,
  type MailTexts,
  mailBlocks,
  mailNames,
  problemOf,
} from '../../../mail/index.ts';
import { isLanguage, type Language, languages } from '../../../views/index.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import { iso, nullable, oneLine, strict, timestamp } from '../../api/schema-parts.ts';
import type { LooksPort } from './resource.ts';

interface Ports {
  readonly looks: LooksPort;
}

const text = (description: string) =>
  nullable(StringSchema({ minLength: 1, maxLength: MAX_MAIL_TEXT, pattern: oneLine }), { description });

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
const textsSchema = ObjectSchema(members, {
  ...strict,
  description: 'The own texts of an e-mail in a language.',
});
const textsBody = Partial(ObjectSchema(members), strict);
export type MailTextsBody = Static<typeof textsBody>;

const params = ObjectSchema(
  {
    mail: Enum([...mailNames], { description: 'The name of the e-mail.' }),
    language: Enum([...languages], { description: 'The language of its readers.' }),
  },
  strict,
);
const listSchema = ObjectSchema(
  {
    items: ArraySchema(
      ObjectSchema(
        {
          mail: StringSchema({ description: 'Its name.' }),
          languages: ArraySchema(StringSchema(), { description: 'Those in which it has texts of its own.' }),
        },
        { ...strict, description: 'An e-mail.' },
      ),
      { description: 'All e-mails.' },
    ),
  },
  { ...strict, description: 'The e-mails that there are.' },
);
const versionsSchema = ObjectSchema(
  {
    items: ArraySchema(
      ObjectSchema(
        {
          version: Integer({ description: 'Its number.' }),
          at: timestamp('When it was saved.'),
          by: StringSchema({ description: 'Who saved it, as `kind:id`.' }),
          restored: nullable(Integer(), { description: 'The version that it brought back; null: none.' }),
        },
        { ...strict, description: 'A version of the texts of all e-mails.' },
      ),
      { description: 'The newest first; the last 30.' },
    ),
  },
  { ...strict, description: 'The versions of the texts of e-mails.' },
);
const restoreBody = ObjectSchema(
  { version: Integer({ minimum: 1, maximum: 99_999_999, description: 'The version to bring back.' }) },
  strict,
);

/** @returns the own texts of this mail by block, null where it has the shipped one */
function ownTextsOf(all: MailTexts | undefined, mail: MailTemplate, language: Language) {
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
  if (Object.keys(fields).length > 0) throw new AppError('request.invalid', { fields });
  const next = { ...all, [language]: Object.fromEntries(own) };
  return Object.fromEntries(Object.entries(next).filter(([, texts]) => Object.keys(texts).length > 0));
}

const lookOf = (texts: MailTexts) => (Object.keys(texts).length === 0 ? {} : { mails: texts });
const recorded = { event: 'branding.changed', target: 'setting', isBodyShown: true } as const;
const described = { status: 200, schema: textsSchema, hasVersion: true } as const;

function answerOf({ look, version }: SavedLook, mail: MailTemplate, language: Language) {
  return { data: ownTextsOf(look.mails, mail, language), version };
}

/** The schema has admitted these names alone. */
function named({ mail, language }: { readonly mail: string; readonly language: string }) {
  if (!isMail(mail) || !isLanguage(language)) throw new AppError('request.not_found');
  return { mail, language };
}

export const mailTexts = defineRoutes('Branding', (on: RouteKit<Ports>) => ({
  list: on.route({
    method: 'GET',
    path: '/branding/mails',
    sensitivity: 'plain',
    summary: 'List the e-mails, and in which languages they have texts of their own',
    success: { status: 200, schema: listSchema, hasVersion: true },
    async run(_, { looks }) {
      const { look, version } = await looks.read('mails');
      const edited = (mail: string) =>
        languages.filter((language) =>
          Object.keys(look.mails?.[language] ?? {}).some((key) => key.startsWith(`${mail}.`)),
        );
      return { data: { items: mailNames.map((mail) => ({ mail, languages: edited(mail) })) }, version };
    },
  }),
  versions: on.route({
    method: 'GET',
    path: '/branding/mails/versions',
    sensitivity: 'plain',
    summary: 'List the versions of the texts of e-mails',
    success: { status: 200, schema: versionsSchema },
    async run(_, { looks }) {
      const versions = await looks.versions('mails');
      const items = versions.map(({ number, at, by, restored }) => ({
        version: number,
        at: iso(at),
        by,
        restored: restored ?? null,
      }));
      return { data: { items } };
    },
  }),
  restore: on.route({
    method: 'POST',
    path: '/branding/mails/restore',
    sensitivity: 'sensitive',
    hasTarget: true,
    recorded: { ...recorded, event: 'branding.restored' },
    summary: 'Bring back an earlier version of the texts of e-mails',
    body: restoreBody,
    success: { status: 204 },
    async run({ body, actor, ifVersion }, { looks }) {
      await looks.restore('mails', body.version, `${actor.kind}:${actor.id}`, { ifVersion });
      return { data: undefined };
    },
  }),
  read: on.route({
    method: 'GET',
    path: '/branding/mails/{mail}/{language}',
    sensitivity: 'plain',
    summary: 'Read the own texts of an e-mail in a language',
    params,
    success: described,
    async run({ params: asked }, { looks }) {
      const { mail, language } = named(asked);
      return answerOf(await looks.read('mails'), mail, language);
    },
  }),
  replace: on.route({
    method: 'PUT',
    path: '/branding/mails/{mail}/{language}',
    sensitivity: 'sensitive',
    hasTarget: true,
    recorded,
    summary: 'Replace the own texts of an e-mail in a language: what is not given is as shipped',
    params,
    body: textsBody,
    success: described,
    async run({ params: asked, body, actor, ifVersion }, { looks }) {
      const { mail, language } = named(asked);
      const { look, version } = await looks.read('mails');
      if (ifVersion !== undefined && ifVersion !== version) throw new AppError('branding.changed');
      const next = lookOf(textsWith(look.mails, mail, language, body));
      const by = `${actor.kind}:${actor.id}`;
      return answerOf(await looks.save('mails', next, by, { ifVersion: version }), mail, language);
    },
  }),
}));
