// The texts of mails, below Settings › Branding: all mails, and one in one language beside what it looks like.
import { AppError, invalid } from '../../../errors.ts';
import { newSecret } from '../../../ids.ts';
import { blocksOf, mailBlocks } from '../../../mail/index.ts';
import { isMail, type MailTemplate, mailRows } from '../../../model/mails.ts';
import { isLanguage, type Language } from '../../../views/index.ts';
import { refusalOf, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { orShown, type Refused } from '../../pages/form-pages.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { mails } from '../mails/resource.ts';
import { byName, createNames } from '../names.ts';
import { choicesOf } from './gallery-pages.ts';
import { type MailTextsBody, textsWith } from './mail-text-schema.ts';
import { mailTexts } from './mail-texts.ts';

const crumbs = [
  { label: 'Settings', href: '/settings' },
  { label: 'Branding', href: '/branding' },
];

const labels = {
  subject: 'Subject and title',
  lead: 'Opening',
  lead_by: 'Opening that names who invites',
  application: 'Sentence about the application',
  button: 'Button',
  not_you: 'If it was someone else',
  closing: 'Closing',
} as const;

interface Asked {
  readonly mail: MailTemplate;
  readonly language: Language;
}

function askedOf({ params }: Pick<AdminContext, 'params'>): Asked {
  const { mail = '', language = '' } = params;
  if (!isMail(mail) || !isLanguage(language)) throw new AppError('request.not_found');
  return { mail, language };
}

const pathOf = ({ mail, language }: Asked): string => `/branding/mails/${mail}/${language}`;

const bodyOf = ({ form }: AdminContext): MailTextsBody =>
  Object.fromEntries(mailBlocks.map((block) => [block, textOrNull(form.get(block))]));

async function showList(context: AdminContext): Promise<void> {
  const [{ data }, { data: saved }] = await Promise.all([
    context.call(mailTexts.list, {}),
    context.call(mailTexts.versions, {}),
  ]);
  const nameOf = createNames(context);
  const versions = saved.items.map(async ({ by, ...version }) => ({
    ...version,
    by: await byName(nameOf, by),
  }));
  context.show('branding-mails', {
    title: 'Texts of e-mails',
    here: 'settings',
    crumbs: crumbs.slice(0, 1),
    items: data.items.map((item) => ({
      ...item,
      title: isMail(item.mail) ? mailRows[item.mail].title : item.mail,
    })),
    versions: await Promise.all(versions),
  });
}

/** What the mail says with what the form has; why a text of it cannot stand. */
async function judged(context: AdminContext, asked: Asked, isTyped: boolean) {
  const { mail, language } = asked;
  const { data } = await context.call(mailTexts.read, { params: asked });
  const stored = textsWith(undefined, mail, language, data);
  if (!isTyped) return { ...context.previews.mail(mail, language, stored), errors: {} };
  try {
    const body = mailTexts.replace.check.body.parse(bodyOf(context));
    const texts = textsWith(undefined, mail, language, body);
    await context.previews.keepMails(context.form.get('draft') ?? '', texts);
    return { ...context.previews.mail(mail, language, texts), errors: {} };
  } catch (error) {
    const { errors } = refusalOf(error);
    return { ...context.previews.mail(mail, language, stored), errors };
  }
}

async function showMail(
  context: AdminContext,
  refused?: Refused,
  status = 200,
  test?: object,
): Promise<void> {
  const asked = askedOf(context);
  const { data, version } = await context.call(mailTexts.read, { params: asked });
  const isTyped = context.form.get('draft') !== undefined;
  const shown = await judged(context, asked, isTyped);
  const { test: outcome } = (await context.once()) ?? {};
  context.show(
    'branding-mail',
    {
      title: mailRows[asked.mail].title,
      here: 'settings',
      crumbs: [...crumbs, { label: 'Texts of e-mails', href: '/branding/mails' }],
      // `language` is the one of the page itself.
      of: asked,
      path: pathOf(asked),
      mailPath: `/branding/mails/${asked.mail}`,
      version: version ?? 0,
      values: { ...data, ...refused?.values },
      errors: refused?.errors ?? shown.errors,
      alert: refused?.alert,
      blocks: blocksOf(asked.mail, asked.language).map((block) => ({ ...block, label: labels[block.block] })),
      labels,
      shown,
      isTyped,
      test: test ?? outcome,
      draft: context.form.get('draft') ?? newSecret(16),
      choices: {
        ...choicesOf(context),
        sample: `mail-${asked.mail}`,
        language: asked.language,
        isFixed: true,
      },
      clientId: '',
      hasFrames: true,
    },
    status,
  );
}

async function keepDraft(context: AdminContext): Promise<void> {
  const asked = askedOf(context);
  const shown = await judged(context, asked, true);
  context.show('branding-mail-shown', { title: mailRows[asked.mail].title, here: 'settings', labels, shown });
}

async function save(context: AdminContext): Promise<void> {
  const asked = askedOf(context);
  const ifVersion = versionOf(context.form);
  await context.call(mailTexts.replace, { params: asked, body: bodyOf(context), ifVersion });
  context.go(pathOf(asked), 'mail-texts-saved');
}

/** To whom is signed in, and nobody else: the values in it are made up. */
async function sendToMe(context: AdminContext): Promise<void> {
  const asked = askedOf(context);
  const to = context.admin.account.email;
  if (to === undefined) throw invalid({ to: 'Your account has no e-mail address.' });
  const { data } = await context.call(mails.test, { body: { to, ...asked } });
  const test = { ...data, to };
  await showMail(context, undefined, 200, test);
}

const path = '/branding/mails/:mail/:language';
const withForm = (address: string, act: (context: AdminContext) => Promise<unknown>): Page =>
  post(address, orShown(act, showMail), { formOn: { path } });

export const mailTextPages: readonly Page[] = [
  get('/branding/mails', showList),
  post(
    '/branding/mails/restore',
    async (context) => {
      const version = Number(context.form.get('number'));
      await context.call(mailTexts.restore, { body: { version } });
      context.go('/branding/mails', 'branding-restored');
    },
    { formOn: { path: '/branding/mails' } },
  ),
  get(path, (context) => showMail(context)),
  withForm(path, save),
  post(`${path}/draft`, keepDraft, { formOn: { path } }),
  withForm(`${path}/preview`, (context) =>
    showMail(context, { values: typedIn(context.form), alert: '', errors: {}, isStale: false }),
  ),
  withForm(`${path}/test`, sendToMe),
];
