// What pages look like: of all, below Settings, and of one application, below it. Each form sends what it shows and leaves the
// rest; pictures have forms of their own, since a form with a file cannot be shown again as it was sent.
import { MAX_PICTURE_BYTES } from '../../../branding/index.ts';
import { AppError } from '../../../errors.ts';
import { contrastsOf, fontNames, languages } from '../../../views/index.ts';
import { isOn, numberOrText, textOrNull, versionOf } from '../../pages/field-values.ts';
import { orShown, type Refused } from '../../pages/form-pages.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { readSettings } from '../settings/read.ts';
import { branding } from './resource.ts';
import type { LookView } from './schema.ts';

const pictureNames = ['logo', 'logo_dark', 'icon'] as const;
const colorNames = ['accent', 'accent_dark', 'background', 'background_dark'] as const;
const textNames = ['welcome', 'panel', 'help'] as const;

const clientOf = (context: AdminContext) => ({ client_id: idOf(context).id });

type Version = Awaited<ReturnType<typeof readVersions>>[number];
const readVersions = async (context: AdminContext) => (await context.call(branding.versions, {})).data.items;

/** All pages, or one application's. */
interface Place {
  readonly address: string;
  readonly here: string;
  readonly title: string;
  pathOf(context: AdminContext): string;
  crumbsOf(context: AdminContext): readonly { readonly label: string; readonly href: string }[];
  read(context: AdminContext): Promise<{ readonly data: LookView; readonly version: number | undefined }>;
  change(context: AdminContext, body: object, ifVersion?: number): Promise<unknown>;
  versions(context: AdminContext): Promise<readonly Version[]>;
  restore(context: AdminContext, version: number): Promise<unknown>;
}

const ofAll: Place = {
  address: '/branding',
  here: 'settings',
  title: 'Branding',
  pathOf: () => '/branding',
  crumbsOf: () => [{ label: 'Settings', href: '/settings' }],
  read: (context) => context.call(branding.read, {}),
  change: (context, body, ifVersion) => context.call(branding.change, { body, ifVersion }),
  versions: readVersions,
  restore: (context, version) => context.call(branding.restore, { body: { version } }),
};

const ofApplication: Place = {
  address: '/applications/:id/looks',
  here: 'applications',
  title: 'Looks',
  pathOf: (context) => `/applications/${encodeURIComponent(idOf(context).id)}/looks`,
  crumbsOf: (context) => [
    { label: 'Applications', href: '/applications' },
    { label: idOf(context).id, href: `/applications/${encodeURIComponent(idOf(context).id)}` },
  ],
  read: (context) => context.call(branding.readOfClient, { params: clientOf(context) }),
  change: (context, body, ifVersion) =>
    context.call(branding.changeOfClient, { params: clientOf(context), body, ifVersion }),
  versions: async (context) =>
    (await context.call(branding.versionsOfClient, { params: clientOf(context) })).data.items,
  restore: (context, version) =>
    context.call(branding.restoreOfClient, { params: clientOf(context), body: { version } }),
};

/** What the form has, as its fields have it. */
function valuesOf(look: LookView): Record<string, string> {
  const texts = languages.flatMap((language) =>
    textNames.map((name) => [`texts.${language}.${name}`, look.texts[language]?.[name] ?? ''] as const),
  );
  const { font, layout, radius, is_gradient: isGradient, is_name_in_logo: isNameInLogo } = look;
  return {
    ...Object.fromEntries(colorNames.map((name) => [name, look[name] ?? ''])),
    ...Object.fromEntries(texts),
    font: font ?? '',
    layout: layout ?? '',
    radius: radius === null ? '' : String(radius),
    is_gradient: isGradient === true ? 'on' : '',
    is_name_in_logo: isNameInLogo === true ? 'on' : '',
  };
}

function bodyOf({ form }: AdminContext): object {
  const text = (name: string) => textOrNull(form.get(name));
  const texts = Object.fromEntries(
    languages.map((language) => [
      language,
      Object.fromEntries(textNames.map((name) => [name, text(`texts.${language}.${name}`)])),
    ]),
  );
  const radius = text('radius');
  return {
    ...Object.fromEntries(colorNames.map((name) => [name, text(name)])),
    font: text('font'),
    layout: text('layout'),
    radius: radius === null ? null : numberOrText(radius),
    is_gradient: isOn(form, 'is_gradient') || null,
    is_name_in_logo: isOn(form, 'is_name_in_logo') || null,
    texts,
  };
}

const USES = {
  button_text: 'Text on buttons',
  button: 'Edge of buttons',
  link: 'Links',
  focus: 'Focus ring',
  backdrop_text: 'Text on the background',
} as const;

/** What becomes of the colours that were picked. */
function contrastRows(values: Readonly<Record<string, string>>, accentSetting: string) {
  const { accent = '', accent_dark: accentDark, background, background_dark: backgroundDark } = values;
  return contrastsOf({
    accent: accent === '' ? accentSetting : accent,
    accentDark,
    background,
    backgroundDark,
    isGradient: values.is_gradient === 'on',
  }).map(({ use, ratio, ...row }) => ({ ...row, use: USES[use], ratio: ratio.toFixed(1) }));
}

async function show(place: Place, context: AdminContext, refused?: Refused, status = 200): Promise<void> {
  const [{ data: look, version }, versions, setting] = await Promise.all([
    place.read(context),
    place.versions(context),
    readSettings(context),
  ]);
  const values = refused === undefined ? valuesOf(look) : { ...valuesOf(look), ...refused.values };
  const nameOf = createNames(context);
  context.show(
    'branding',
    {
      title: place.title,
      here: place.here,
      crumbs: place.crumbsOf(context),
      path: place.pathOf(context),
      look,
      version: version ?? 0,
      values,
      errors: refused?.errors ?? {},
      alert: refused?.alert,
      contrasts: contrastRows(values, String(setting('accent_color')?.value ?? '')),
      accentSetting: setting('accent_color')?.value,
      fonts: fontNames,
      textNames,
      pictureNames,
      versions: await Promise.all(
        versions.map(async ({ version: number, at, by, restored }) => {
          const [kind = '', id = ''] = by.split(/:(.*)/s);
          return { number, at, restored, by: kind === 'user' ? (await nameOf(kind, id)).label : id };
        }),
      ),
    },
    status,
  );
}

async function upload(place: Place, context: AdminContext): Promise<void> {
  const name = pictureNames.find((one) => one === context.form.get('picture'));
  if (name === undefined) throw new AppError('request.malformed');
  const { file } = context;
  if (file === undefined) throw new AppError('request.invalid', { fields: { [name]: 'Choose a picture.' } });
  const { data } = await context.call(branding.upload, { body: { data: file.toString('base64') } });
  await place.change(context, { [name]: data.id });
  context.go(place.pathOf(context), 'branding-saved');
}

function pagesOf(place: Place): Page[] {
  const { address } = place;
  const post = (
    path: string,
    act: (context: AdminContext) => Promise<unknown>,
    more: Partial<Page> = {},
  ): Page => ({
    ...more,
    method: 'POST',
    path: `${address}${path}`,
    formOn: { path: address },
    handle: orShown(act, (context, refused, status) =>
      // A form with a file or a press has nothing that the large form would show.
      show(place, context, path === '' ? refused : { ...refused, values: {} }, status),
    ),
  });
  return [
    { method: 'GET', path: address, needs: 'admin', handle: (context) => show(place, context) },
    post('', async (context) => {
      await place.change(context, bodyOf(context), versionOf(context.form));
      context.go(place.pathOf(context), 'branding-saved');
    }),
    post('/picture', (context) => upload(place, context), {
      file: { name: 'file', limitBytes: MAX_PICTURE_BYTES },
    }),
    post('/remove-picture', async (context) => {
      const name = pictureNames.find((one) => one === context.form.get('picture'));
      if (name === undefined) throw new AppError('request.malformed');
      await place.change(context, { [name]: null });
      context.go(place.pathOf(context), 'branding-saved');
    }),
    post('/restore', async (context) => {
      await place.restore(context, Number(context.form.get('number')));
      context.go(place.pathOf(context), 'branding-restored');
    }),
  ];
}

export const brandingPages: readonly Page[] = [...pagesOf(ofAll), ...pagesOf(ofApplication)];
