// What pages look like: of all, below Settings, and of one application, below it. Look and texts are two pages, so that each stays
// light with everything at its longest. Each form sends what it shows and leaves the rest; pictures have forms of their own, since
// a form with a file cannot be shown again as it was sent.
import { type Look, MAX_PICTURE_BYTES } from '../../../branding/index.ts';
import { AppError, invalid } from '../../../errors.ts';
import { newSecret } from '../../../ids.ts';
import { type ContrastPair, fontNames, languages } from '../../../views/index.ts';
import { isOn, numberOrText, textOrNull, typedIn, versionOf } from '../../pages/field-values.ts';
import { orShown, type Refused } from '../../pages/form-pages.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { byName, createNames } from '../names.ts';
import { written } from '../settings/groups.ts';
import { readSettings } from '../settings/read.ts';
import { galleryPages, isOfPages, onePerPage, previewModel } from './gallery-pages.ts';
import { linkRows, linksIn, linkValuesOf, problemsOfLinks } from './link-fields.ts';
import { mailTextPages } from './mail-text-pages.ts';
import { mailTextTransferPages } from './mail-text-transfer-pages.ts';
import { lookPictures } from './picture-routes.ts';
import { lookAfter, type Place, places } from './place.ts';
import type { LookView } from './schema.ts';
import { pictureFile, pictureNames, useOfPicture } from './transfer.ts';
import { lookTransferPages } from './transfer-pages.ts';

const colorNames = ['accent', 'accent_dark', 'background', 'background_dark'] as const;
const chosenNames = ['font', 'layout'] as const;
const checkNames = ['is_gradient', 'is_name_in_logo'] as const;
const textNames = ['welcome', 'panel', 'help'] as const;
/** Every text of every language at its longest, each character nine in a form. */
const FORM_BYTES = 96 * 1024;
const nothingWrong = { alert: '', errors: {}, isStale: false };

/** What the form has, as its fields have it. */
function valuesOf(look: LookView): Record<string, string> {
  const texts = languages.flatMap((language) =>
    textNames.map((name) => [`texts.${language}.${name}`, look.texts[language]?.[name] ?? ''] as const),
  );
  const own = [...colorNames, ...chosenNames, ...checkNames, 'radius'] as const;
  return {
    ...Object.fromEntries(own.map((name) => [name, written(look[name])])),
    ...Object.fromEntries(texts),
    ...linkValuesOf(look),
  };
}

/** The page of the colours and the like, and that of what is written. */
type Part = 'look' | 'texts';

const addressOf = (place: Place, part: Part): string =>
  part === 'texts' ? `${place.address}/texts` : place.address;

const pathOf = (place: Place, part: Part, context: AdminContext): string =>
  part === 'texts' ? `${place.pathOf(context)}/texts` : place.pathOf(context);

function textsIn({ form }: AdminContext): object {
  const texts = languages.map((language) => {
    const own = textNames.map((name) => [name, textOrNull(form.get(`texts.${language}.${name}`))]);
    return [language, Object.fromEntries(own)];
  });
  return { texts: Object.fromEntries(texts), links: linksIn(form) };
}

function lookIn({ form }: AdminContext): object {
  const radius = textOrNull(form.get('radius'));
  return {
    ...Object.fromEntries([...colorNames, ...chosenNames].map((name) => [name, textOrNull(form.get(name))])),
    ...Object.fromEntries(checkNames.map((name) => [name, isOn(form, name) || null])),
    radius: radius === null ? null : numberOrText(radius),
  };
}

const bodyOf = (part: Part, context: AdminContext): object =>
  part === 'texts' ? textsIn(context) : lookIn(context);

const USES = {
  button_text: 'Text on buttons',
  button: 'Edge of buttons',
  link: 'Links',
  focus: 'Focus ring',
  backdrop_text: 'Text on the background',
} as const;

/** Beside which field it is shown what becomes of its colour. */
const fieldOf = ({ use, scheme }: Pick<ContrastPair, 'use' | 'scheme'>): (typeof colorNames)[number] => {
  if (use === 'backdrop_text') return scheme === 'dark' ? 'background_dark' : 'background';
  return scheme === 'dark' ? 'accent_dark' : 'accent';
};

/** By field: what becomes of the colours that were picked. */
function verdictsOf(context: AdminContext, place: Place, look: Look) {
  const pairs = context.previews
    .contrasts(place.clientIdOf(context), look)
    // The focus ring has the colour of links, which must be the easier one to read.
    .filter(({ use }) => use !== 'focus')
    .map(({ ratio, instead, ...pair }) => ({
      ...pair,
      use: USES[pair.use],
      field: fieldOf(pair),
      ratio: ratio.toFixed(1),
      instead: instead && { color: instead.color, ratio: instead.ratio.toFixed(1) },
    }));
  return Object.fromEntries(
    colorNames.map((name) => [name, pairs.filter(({ field }) => field === name)] as const),
  );
}

/** What a form shows beside its fields and in its preview: of what was typed as far as that is valid, else of what is stored. */
function lookShown(stored: LookView, part: Part, context: AdminContext, isTyped: boolean): Look {
  if (!isTyped) return lookAfter(stored, {});
  try {
    return lookAfter(stored, bodyOf(part, context));
  } catch (error) {
    if (error instanceof AppError) return lookAfter(stored, {});
    throw error;
  }
}

/** What is kept of each picture, and where it is. */
async function picturesShown(look: LookView, context: AdminContext) {
  return Promise.all(
    pictureNames.map(async (name) => {
      const id = look[name];
      if (id === null) return { name };
      const { data } = await context.call(lookPictures.read, { params: { picture: id } });
      const { width, height, bytes } = data;
      return {
        name,
        file: pictureFile(name, id),
        width,
        height,
        kilobytes: Math.max(1, Math.round(bytes / 1000)),
      };
    }),
  );
}

async function show(
  place: Place,
  part: Part,
  context: AdminContext,
  refused?: Refused,
  status = 200,
): Promise<void> {
  const [{ data: look, version }, versions, setting] = await Promise.all([
    place.read(context),
    place.versions(context),
    readSettings(context),
  ]);
  const pictures = await picturesShown(look, context);
  const values = refused === undefined ? valuesOf(look) : { ...valuesOf(look), ...refused.values };
  const draft = context.form.get('draft') ?? newSecret(16);
  const isTyped = context.form.get('draft') !== undefined;
  const shown = lookShown(look, part, context, isTyped);
  if (isTyped) await context.previews.keep(draft, shown);
  const { choices, gallery, ...model } = await previewModel(place, context);
  const nameOf = createNames(context);
  context.show(
    'branding',
    {
      title: place.title,
      here: place.here,
      crumbs: await place.crumbsOf(context),
      path: place.pathOf(context),
      part,
      formPath: pathOf(place, part, context),
      pictures,
      version: version ?? 0,
      values,
      errors: refused?.errors ?? {},
      linkErrors: problemsOfLinks(context.form),
      linkRows,
      alert: refused?.alert,
      verdicts: verdictsOf(context, place, shown),
      draft,
      isTyped,
      accentSetting: setting('accent_color')?.value,
      fonts: fontNames,
      textNames,
      versions: await Promise.all(
        versions.map(async ({ version: number, at, by, restored }) => ({
          number,
          at,
          restored,
          by: await byName(nameOf, by),
        })),
      ),
      ...model,
      // Mails have texts of their own.
      gallery: onePerPage(part === 'texts' ? gallery.filter(isOfPages) : gallery, choices.sample),
      // A phone's page has no background picture.
      choices: {
        ...choices,
        width: look.background_picture === null || context.query.has('width') ? choices.width : 'desktop',
      },
    },
    status,
  );
}

/** The script of the form asks here while it is filled in: the preview has it next, the answer is what the colours have. */
async function keepDraft(place: Place, part: Part, context: AdminContext): Promise<void> {
  const look = lookAfter((await place.read(context)).data, bodyOf(part, context));
  await context.previews.keep(context.form.get('draft') ?? '', look);
  context.show('branding-verdicts', {
    title: place.title,
    here: place.here,
    verdicts: verdictsOf(context, place, look),
    fields: part === 'look' ? colorNames : [],
  });
}

/** @throws AppError request.malformed */
function pictureNamed({ form }: AdminContext) {
  const name = pictureNames.find((one) => one === form.get('picture'));
  if (name === undefined) throw new AppError('request.malformed');
  return name;
}

async function upload(place: Place, context: AdminContext): Promise<void> {
  const name = pictureNamed(context);
  const { file } = context;
  if (file === undefined) throw invalid({ [name]: 'Choose a picture.' });
  const body = { data: file.toString('base64'), use: useOfPicture(name) };
  const { data } = await context.call(lookPictures.upload, { body });
  await place.change(context, { [name]: data.id });
}

/** The page of a part, and its form: saved, kept as a draft, or shown with its preview. */
function partPages(place: Place, part: Part): Page[] {
  const address = addressOf(place, part);
  const form = { formOn: { path: address }, formBytes: FORM_BYTES };
  const shownAgain = (context: AdminContext, refused: Refused, status?: number) =>
    show(place, part, context, refused, status);
  const save = async (context: AdminContext) => {
    await place.change(context, bodyOf(part, context), versionOf(context.form));
    context.go(pathOf(place, part, context), 'branding-saved');
  };
  return [
    get(address, (context) => show(place, part, context)),
    post(`${address}/draft`, (context) => keepDraft(place, part, context), form),
    // Without scripts: a button of the form that shows it with its preview, and saves nothing.
    post(
      `${address}/preview`,
      (context) => shownAgain(context, { ...nothingWrong, values: typedIn(context.form) }),
      form,
    ),
    post(address, orShown(save, shownAgain), form),
  ];
}

function pagesOf(place: Place): Page[] {
  const { address } = place;
  const act = (
    path: string,
    notice: string,
    run: (context: AdminContext) => Promise<unknown>,
    more: Partial<Page> = {},
  ) => {
    const submit = async (context: AdminContext) => {
      await run(context);
      context.go(place.pathOf(context), notice);
    };
    // A form with a file or a press has nothing that the large form would show.
    const shownAgain = (context: AdminContext, refused: Refused, status: number) =>
      show(place, 'look', context, { ...refused, values: {} }, status);
    return post(`${address}${path}`, orShown(submit, shownAgain), { ...more, formOn: { path: address } });
  };
  return [
    ...partPages(place, 'look'),
    ...partPages(place, 'texts'),
    act('/picture', 'branding-saved', (context) => upload(place, context), {
      file: { name: 'file', limitBytes: MAX_PICTURE_BYTES },
    }),
    act('/remove-picture', 'branding-saved', (context) =>
      place.change(context, { [pictureNamed(context)]: null }),
    ),
    act('/restore', 'branding-restored', (context) =>
      place.restore(context, Number(context.form.get('number'))),
    ),
  ];
}

export const brandingPages: readonly Page[] = [
  ...galleryPages,
  ...mailTextTransferPages,
  ...mailTextPages,
  ...lookTransferPages,
  ...places.flatMap(pagesOf),
];
