// Moves the own texts of mails between installations: the export is a file; the import shows what each mail would say, and what
// the lint says of it, before anything is saved, and is then one version of all texts.
import { blocksOf, type MailTexts } from '../../../mail/index.ts';
import { isMail } from '../../../model/mails.ts';
import { isLanguage } from '../../../views/index.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { importFile, sendFile } from './import-page.ts';
import { mailTexts } from './mail-texts.ts';
import { allTextsIn, mailTextsFileOf, readMailTextsFile } from './mail-texts-file.ts';

const LIST = '/branding/mails';
const PATH = `${LIST}/import`;
/** The file, of which a form writes a character of some languages as nine. */
const FORM_BYTES = 1024 * 1024;

interface Change {
  readonly language: string;
  readonly mail: string;
  readonly name: string;
  /** '' for a text as shipped. */
  readonly from: string;
  readonly to: string;
}

const keysOf = (texts: MailTexts): string[] =>
  Object.entries(texts).flatMap(([language, own]) => Object.keys(own).map((key) => `${language}.${key}`));

function changesOf(before: MailTexts, after: MailTexts): Change[] {
  return [...new Set([...keysOf(before), ...keysOf(after)])].sort().flatMap((name) => {
    const [language = '', mail = '', block = ''] = name.split('.');
    const of = (texts: MailTexts): string => texts[language]?.[`${mail}.${block}`] ?? '';
    const [from, to] = [of(before), of(after)];
    return from === to ? [] : [{ language, mail, name, from, to }];
  });
}

/** What the shipped text says, where a change begins or ends with it. */
function withShipped(change: Change) {
  const { language, mail, name } = change;
  const block =
    isMail(mail) && isLanguage(language)
      ? blocksOf(mail, language).find((one) => name.endsWith(`.${one.block}`))
      : undefined;
  return { ...change, shipped: block?.shipped ?? '' };
}

/** The mails that would be others, each with what the lint finds in it. */
function findingsOf({ previews }: AdminContext, changes: readonly Change[], texts: MailTexts) {
  const mails = new Map(changes.map((change) => [`${change.language}.${change.mail}`, change]));
  return [...mails].flatMap(([name, { language, mail }]) => {
    if (!isMail(mail) || !isLanguage(language)) return [];
    const { problems } = previews.mail(mail, language, texts);
    return problems.length === 0 ? [] : [{ name, problems }];
  });
}

function show(context: AdminContext, shown: object = {}, status = 200): void {
  const page = {
    title: 'Import texts of e-mails',
    here: 'settings',
    crumbs: [
      { label: 'Settings', href: '/settings' },
      { label: 'Branding', href: '/branding' },
      { label: 'Texts of e-mails', href: LIST },
    ],
    json: '',
    ready: '',
    version: '',
  };
  context.show('branding-mails-import', { ...page, changes: undefined, errors: {}, ...shown }, status);
}

const textsIn = (body: unknown): MailTexts => allTextsIn(mailTexts.replaceAll.check.body.parse(body).texts);

async function review(context: AdminContext, texts: MailTexts, shown: object, status = 200): Promise<void> {
  const { data, version } = await context.call(mailTexts.export, {});
  const changes = changesOf(allTextsIn(data.texts), texts);
  const ready = JSON.stringify({ texts: mailTextsFileOf(texts).texts });
  const findings = findingsOf(context, changes, texts);
  const model = { changes: changes.map(withShipped), findings, ready, version: version ?? 0 };
  show(context, { ...model, ...shown }, status);
}

const importTexts = (context: AdminContext): Promise<void> =>
  importFile<MailTexts>(context, {
    show: (shown, status) => show(context, shown, status),
    review: (texts, shown, status) => review(context, texts, shown, status),
    read: async (file) => allTextsIn(readMailTextsFile(file).texts),
    check: textsIn,
    async save(texts, ifVersion) {
      const body = { texts: mailTextsFileOf(texts).texts };
      await context.call(mailTexts.replaceAll, { body, ifVersion });
      context.go(LIST, 'mail-texts-saved');
    },
    overtaken: 'The texts were changed in the meantime. These are the changes now.',
  });

export const mailTextTransferPages: readonly Page[] = [
  get(`${LIST}/export`, async (context) => {
    sendFile(context, 'latchkey-mail-texts', (await context.call(mailTexts.export, {})).data);
  }),
  get(PATH, async (context) => show(context), { needs: 'admin' }),
  post(PATH, importTexts, { formBytes: FORM_BYTES }),
];
