// How pages look: what an installation and an application set (branding), as custom properties and as what templates show.
// Whatever is written into the style sheet is made here, of checked parts: no text from outside becomes CSS.

import { type ContrastPair, contrastsOf, isColor, type Picked, paletteOf, type Scheme } from './palette.ts';
import type { Language } from './strings.ts';

/** The stacks that pages can have: fonts that come with systems, so that nothing is ever loaded. */
const fonts = {
  system: '',
  humanist: 'Seravek,"Gill Sans Nova",Ubuntu,Calibri,"DejaVu Sans",source-sans-pro,sans-serif',
  geometric: 'Avenir,Montserrat,Corbel,"URW Gothic",source-sans-pro,sans-serif',
  grotesque: '"Helvetica Neue",Helvetica,"Nimbus Sans",Arial,"Liberation Sans",sans-serif',
  rounded:
    'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Comfortaa,Manjari,"Arial Rounded MT Bold",Calibri,sans-serif',
  serif: 'Charter,"Bitstream Charter","Sitka Text",Cambria,"Liberation Serif",serif',
  old_style: '"Iowan Old Style","Palatino Linotype","URW Palladio L",P052,serif',
  monospace: 'ui-monospace,"Cascadia Code","Source Code Pro",Menlo,Consolas,"DejaVu Sans Mono",monospace',
} as const;
type Font = keyof typeof fonts;

const isFont = (name: string | undefined): name is Font => name !== undefined && Object.hasOwn(fonts, name);

/** The names of the stacks; the first is the product's own. */
export const fontNames = [
  'system',
  'humanist',
  'geometric',
  'grotesque',
  'rounded',
  'serif',
  'old_style',
  'monospace',
] as const satisfies readonly Font[];

type InLanguages<T> = Readonly<Partial<Record<Language, T>>>;

/** What pages need to know of a look (src/branding). Colours are `#rrggbb`; pictures are ids with their size. */
export interface PageLook extends Partial<Picked> {
  readonly logo?: string | undefined;
  readonly logoDark?: string | undefined;
  readonly icon?: string | undefined;
  readonly backgroundPicture?: string | undefined;
  readonly isNameInLogo?: boolean | undefined;
  readonly radius?: number | undefined;
  readonly font?: string | undefined;
  readonly layout?: 'card' | 'split' | undefined;
  readonly texts?: InLanguages<{
    readonly welcome?: string | undefined;
    readonly panel?: string | undefined;
    readonly help?: string | undefined;
  }>;
  readonly links?: readonly { readonly url: string; readonly labels: InLanguages<string> }[] | undefined;
  /** Whether an application's own values are among it. */
  readonly isOfApplication?: boolean | undefined;
}

export interface Theme {
  readonly productName: string;
  /** `#rrggbb`; anything else falls back to the default accent. The look's own goes first. */
  readonly accentColor: string;
  readonly supportUrl: string;
  readonly privacyUrl: string;
  readonly termsUrl: string;
  readonly look?: PageLook | undefined;
}

/** From the settings of the group Branding, and the look that the page has. */
export const themeOf = (
  settings: {
    readonly product_name: string;
    readonly accent_color: string;
    readonly support_url: string;
    readonly privacy_url: string;
    readonly terms_url: string;
  },
  look?: PageLook,
): Theme => ({
  productName: settings.product_name,
  accentColor: settings.accent_color,
  supportUrl: settings.support_url,
  privacyUrl: settings.privacy_url,
  termsUrl: settings.terms_url,
  look,
});

const colors = ({ accent, onAccent, accentHover, accentEdge, link, backdrop }: Scheme): string =>
  `--accent:${accent};--accent-hover:${accentHover};--on-accent:${onAccent};--accent-edge:${accentEdge};--link:${link}` +
  (backdrop === undefined
    ? ''
    : `;--backdrop:${backdrop.from};--backdrop-end:${backdrop.to};--on-backdrop:${backdrop.ink}`);

/** The colour that was picked last, by whichever of the two ways. */
export const accentOf = ({ accentColor, look }: Pick<Theme, 'accentColor' | 'look'>): string =>
  isColor(look?.accent) ? look.accent : accentColor;

/** A split page's panel always has a colour of its own. */
const pickedOf = (accentColor: string, look: PageLook = {}): Picked => {
  const accent = accentOf({ accentColor, look });
  const { accentDark, background, backgroundDark, isGradient, layout } = look;
  const panel = layout === 'split' ? { background: accent, backgroundDark: accentDark } : {};
  return {
    accent,
    accentDark,
    ...panel,
    ...(background !== undefined && { background }),
    ...(backgroundDark !== undefined && { backgroundDark }),
    isGradient,
  };
};

/** What pages with this theme have, by the computation that makes their style. */
export const contrastsOfTheme = ({
  accentColor,
  look,
}: Pick<Theme, 'accentColor' | 'look'>): ContrastPair[] => {
  const pairs = contrastsOf(pickedOf(accentColor, look));
  // With a picture every text has a ground of its own (brand.css).
  return look?.backgroundPicture === undefined ? pairs : pairs.filter(({ use }) => use !== 'backdrop_text');
};

/** @param url of a picture of ours, made of checked parts (brand.ts) */
export const pictureCss = (url: string | undefined): string =>
  url === undefined ? '' : `:root{--picture:url("${url}")}`;

function make(accentColor: string, look: PageLook | undefined): string {
  const { light, dark } = paletteOf(pickedOf(accentColor, look));
  const { radius, font } = look ?? {};
  const corners =
    radius !== undefined && Number.isInteger(radius) && radius >= 0 && radius <= 24
      ? `;--radius:${radius}px;--card-radius:${Math.round(radius * 1.6)}px`
      : '';
  const stack = isFont(font) && fonts[font] !== '' ? `;--font:${fonts[font]}` : '';
  return `:root{${colors(light)}${corners}${stack}}@media(prefers-color-scheme:dark){:root{${colors(dark)}}}`;
}

const NO_LOOK: PageLook = {};
const made = new WeakMap<PageLook, { readonly accentColor: string; readonly css: string }>();

/**
 * Computed once for each version of a look: looks are not changed in place.
 * @param accentColor the operator's colour; never reaches the page unless it is `#rrggbb`
 * @returns a style sheet with the custom properties of both colour schemes
 */
export function themeCss(accentColor: string, look?: PageLook): string {
  const key = look ?? NO_LOOK;
  const known = made.get(key);
  if (known?.accentColor === accentColor) return known.css;
  const css = make(accentColor, look);
  made.set(key, { accentColor, css });
  return css;
}
