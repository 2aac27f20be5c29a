// The gallery: every page and every mail with a look, stored or being edited. Each is a frame of its own, which is loaded when it
// comes into view.
import { AppError } from '../../../errors.ts';
import { isLanguage } from '../../../views/index.ts';
import { type AdminContext, get, type Page } from '../../pages/page.ts';
import { type Place, places } from './place.ts';

const widths = ['phone', 'desktop'] as const;
const schemes = ['light', 'dark'] as const;

const oneOf = <T extends string>(names: readonly [T, ...T[]], name: string | null): T =>
  names.find((one) => one === name) ?? names[0];

/** What is to be seen, as its address says. */
export function choicesOf({ query }: Pick<AdminContext, 'query'>) {
  const language = query.get('language') ?? '';
  return {
    sample: query.get('sample') ?? 'login',
    language: isLanguage(language) ? language : ('en' as const),
    scheme: oneOf(schemes, query.get('scheme')),
    width: oneOf(widths, query.get('width')),
    draft: query.get('draft') ?? '',
  };
}

/** What the choice of a sample needs, on the form and in the gallery. */
export async function previewModel(place: Place, context: AdminContext) {
  const { gallery } = await import('./gallery.ts');
  return { gallery, choices: choicesOf(context), clientId: place.clientIdOf(context) ?? '', hasFrames: true };
}

type Gallery = Awaited<ReturnType<typeof previewModel>>['gallery'];

export const isOfPages = ({ items }: Gallery[number]): boolean =>
  !items.some(({ name }) => name.startsWith('mail-'));

/** For the choice beside the form: each page in its first state, and what was chosen. The gallery has all of them. */
export const onePerPage = (gallery: Gallery, chosen: string): Gallery =>
  gallery.map(({ title, items }) => ({
    title,
    items: items.filter(
      (one, place) => one.name === chosen || items.findIndex((other) => other.title === one.title) === place,
    ),
  }));

async function showGallery(place: Place, context: AdminContext): Promise<void> {
  const { data } = await place.read(context);
  const model = await previewModel(place, context);
  const wanted = context.query.get('group');
  const group = model.gallery.find(({ title }) => title === wanted) ?? model.gallery[0];
  context.show('branding-gallery', {
    title: 'All pages and e-mails',
    here: place.here,
    crumbs: [...(await place.crumbsOf(context)), { label: place.title, href: place.pathOf(context) }],
    path: place.pathOf(context),
    look: data,
    group,
    ...model,
  });
}

async function showSample(context: AdminContext): Promise<void> {
  const { sample: name, language, scheme, draft } = choicesOf(context);
  const clientId = context.query.get('application') ?? undefined;
  // Modern browsers say what a page is for: one that is opened by itself is no frame of the gallery.
  const purpose = context.ctx.get('Sec-Fetch-Dest');
  if (purpose !== '' && purpose !== 'iframe') throw new AppError('request.not_found');
  await context.previews.show({ name, language, scheme, clientId, draft: draft === '' ? undefined : draft });
}

export const galleryPages: readonly Page[] = [
  get('/branding/sample', showSample, { isBackground: true }),
  ...places.map((place): Page => get(`${place.address}/gallery`, (context) => showGallery(place, context))),
];
