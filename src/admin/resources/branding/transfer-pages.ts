// Moves a look between installations: the export is a file; the import shows every difference before anything is saved, and is then
// one version of the look, which can be undone as any other.
import { AppError } from '../../../errors.ts';
import { parseJson } from '../../../json.ts';
import { languages } from '../../../views/index.ts';
import { refusalOf, versionOf } from '../../pages/field-values.ts';
import type { AdminContext, Page } from '../../pages/page.ts';
import { type Place, places } from './place.ts';
import { branding } from './resource.ts';
import { type LookBody, type LookView, shownLook, toLook } from './schema.ts';
import { pictureNames, readLookFile } from './transfer.ts';

/** Each of three pictures as it was exported, and all texts. */
const FORM_BYTES = 512 * 1024;

async function download(place: Place, context: AdminContext): Promise<void> {
  const data = await place.exported(context);
  const day = new Date(context.now).toISOString().slice(0, 10);
  context.ctx.type = 'application/json';
  context.ctx.set('Content-Disposition', `attachment; filename="latchkey-look-${day}.json"`);
  context.ctx.body = `${JSON.stringify(data, null, 2)}\n`;
}

const wrong = (fields: Record<string, string>): AppError => new AppError('request.invalid', { fields });

function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw wrong({ json: 'Not valid JSON.' });
  }
}

/** Pictures are uploaded as by the form, encoded anew; one that is not saved after all is gone after a day. */
async function lookIn(context: AdminContext, text: string, now: LookView): Promise<LookBody> {
  const { look, pictures } = readLookFile(valueIn(text));
  const ids: Record<string, string | null> = {};
  const problems: Record<string, string> = {};
  for (const name of pictureNames) {
    const data = pictures[name];
    const id = look[name] ?? null;
    if (data === undefined) {
      ids[name] = id;
      if (id !== null && id !== now[name]) problems[`pictures.${name}`] = 'The picture itself is missing.';
      continue;
    }
    try {
      ids[name] = (await context.call(branding.upload, { body: { data } })).data.id;
    } catch (error) {
      problems[`pictures.${name}`] = refusalOf(error).alert;
    }
  }
  if (Object.keys(problems).length > 0) throw wrong(problems);
  return branding.replace.check.body.parse({ ...look, ...ids });
}

/** Every value by the name it has in a form. */
function flat(body: LookBody): Map<string, string> {
  const { texts, links, ...others } = shownLook(toLook(body));
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(others)) if (value !== null) found.set(name, String(value));
  for (const language of languages)
    for (const [name, text] of Object.entries(texts[language] ?? {}))
      found.set(`texts.${language}.${name}`, String(text));
  for (const [at, { url, labels }] of links.entries()) {
    found.set(`links.${at}.url`, url);
    for (const [language, label] of Object.entries(labels))
      found.set(`links.${at}.labels.${language}`, label);
  }
  return found;
}

function changesOf({ updated_at: _, updated_by: __, ...now }: LookView, next: LookBody) {
  const [before, after] = [flat(now), flat(next)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => ({
      name,
      from: before.get(name) ?? '',
      to: after.get(name) ?? '',
      isPicture: pictureNames.some((one) => one === name),
    }));
}

function show(place: Place, context: AdminContext, shown: object = {}, status = 200): void {
  const path = place.pathOf(context);
  const crumbs = [...place.crumbsOf(context), { label: place.title, href: path }];
  const page = { title: 'Import a look', here: place.here, crumbs, path, json: '', ready: '', version: '' };
  context.show('branding-import', { ...page, changes: undefined, errors: {}, ...shown }, status);
}

async function showDifference(
  place: Place,
  context: AdminContext,
  body: LookBody,
  shown: object,
  status = 200,
) {
  const { data: now, version } = await place.read(context);
  const changes = changesOf(now, body);
  show(place, context, { changes, ready: JSON.stringify(body), version: version ?? 0, ...shown }, status);
}

async function importLook(place: Place, context: AdminContext): Promise<void> {
  const json = context.form.get('json') ?? '';
  const ready = context.form.get('ready');
  try {
    if (ready === undefined) {
      const body = await lookIn(context, json, (await place.read(context)).data);
      return await showDifference(place, context, body, { json });
    }
    const body = branding.replace.check.body.parse(valueIn(ready));
    const version = versionOf(context.form);
    if (version === undefined) throw new AppError('request.malformed');
    try {
      await place.replace(context, body, version);
    } catch (error) {
      if (refusalOf(error).status !== 412) throw error;
      const alert = 'The look was changed in the meantime. These are the changes now.';
      return await showDifference(place, context, body, { alert }, 412);
    }
    context.go(place.pathOf(context), 'branding-saved');
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    show(place, context, { json, errors, alert }, status);
  }
}

const pagesOf = (place: Place): Page[] => {
  const path = `${place.address}/import`;
  return [
    {
      method: 'GET',
      path: `${place.address}/export`,
      handle: (context) => download(place, context),
    },
    { method: 'GET', path, needs: 'admin', handle: async (context) => show(place, context) },
    { method: 'POST', path, formBytes: FORM_BYTES, handle: (context) => importLook(place, context) },
  ];
};

export const lookTransferPages: readonly Page[] = places.flatMap(pagesOf);
