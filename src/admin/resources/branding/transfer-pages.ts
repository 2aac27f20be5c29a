// Moves a look between installations: the export is a file; the import shows every difference before anything is saved, and is then
// one version of the look, which can be undone as any other.
import { invalid } from '../../../errors.ts';
import { languages } from '../../../views/index.ts';
import { refusalOf } from '../../pages/field-values.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { importFile, sendFile } from './import-page.ts';
import { lookPictures } from './picture-routes.ts';
import { type Place, places } from './place.ts';
import { branding } from './resource.ts';
import { type LookBody, type LookView, shownLook, toLook } from './schema.ts';
import { pictureFile, pictureNames, readLookFile, useOfPicture } from './transfer.ts';

/** Each picture as it was exported, and all texts. */
const FORM_BYTES = 512 * 1024;

/** Pictures are uploaded as by the form, encoded anew; one that is not saved after all is gone after a day. */
async function lookIn(place: Place, context: AdminContext, file: unknown): Promise<LookBody> {
  const { look, pictures } = readLookFile(file);
  const now = readLookFile(await place.exported(context));
  const ids: Record<string, string | null> = {};
  const problems: Record<string, string> = {};
  for (const name of pictureNames) {
    const data = pictures[name];
    const id = look[name] ?? null;
    if (data === undefined) {
      ids[name] = id;
      if (id !== null && id !== now.look[name])
        problems[`pictures.${name}`] = 'The picture itself is missing.';
      continue;
    }
    // What is there already is not encoded again: each time would cost a photograph some of its detail.
    if (data === now.pictures[name]) {
      ids[name] = now.look[name] ?? null;
      continue;
    }
    try {
      const body = { data, use: useOfPicture(name) };
      ids[name] = (await context.call(lookPictures.upload, { body })).data.id;
    } catch (error) {
      problems[`pictures.${name}`] = refusalOf(error).alert;
    }
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
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
    .map((name) => {
      const [from, to] = [before.get(name) ?? '', after.get(name) ?? ''];
      const picture = pictureNames.find((one) => one === name);
      if (picture === undefined) return { name, from, to, isPicture: false };
      const files = [from, to].map((id) => (id === '' ? '' : pictureFile(picture, id)));
      return { name, from: files[0], to: files[1], isPicture: true };
    });
}

async function show(place: Place, context: AdminContext, shown: object = {}, status = 200): Promise<void> {
  const path = place.pathOf(context);
  const crumbs = [...(await place.crumbsOf(context)), { label: place.title, href: path }];
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
  await show(
    place,
    context,
    { changes, ready: JSON.stringify(body), version: version ?? 0, ...shown },
    status,
  );
}

const importLook = (place: Place, context: AdminContext): Promise<void> =>
  importFile<LookBody>(context, {
    show: (shown, status) => show(place, context, shown, status),
    review: (body, shown, status) => showDifference(place, context, body, shown, status),
    read: (file) => lookIn(place, context, file),
    check: (body) => branding.replace.check.body.parse(body),
    async save(body, version) {
      await place.replace(context, body, version);
      context.go(place.pathOf(context), 'branding-saved');
    },
    overtaken: 'The look was changed in the meantime. These are the changes now.',
  });

const pagesOf = (place: Place): Page[] => {
  const path = `${place.address}/import`;
  return [
    get(`${place.address}/export`, async (context) =>
      sendFile(context, 'latchkey-look', await place.exported(context)),
    ),
    get(path, async (context) => show(place, context), { needs: 'admin' }),
    post(path, (context) => importLook(place, context), { formBytes: FORM_BYTES }),
  ];
};

export const lookTransferPages: readonly Page[] = places.flatMap(pagesOf);
