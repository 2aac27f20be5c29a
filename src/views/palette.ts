// Colours that stay readable whatever an administrator picks (WCAG 2.2 §1.4.3, §1.4.11): a colour that is hard to read is made
// lighter or darker, its hue kept (OKLCH: https://bottosson.github.io/posts/oklab/), until it has the contrast that its use
// needs. Pure functions; the pages' style is made of them in theme.ts, the Admin UI shows them while colours are picked.

type Rgb = readonly [number, number, number];

export interface Picked {
  readonly accent: string;
  /** Default: derived from `accent`, as the page's dark background is from `background`. */
  readonly accentDark?: string | undefined;
  readonly background?: string | undefined;
  readonly backgroundDark?: string | undefined;
  readonly isGradient?: boolean | undefined;
}

/** All `#rrggbb`. */
export interface Scheme {
  /** Buttons and marks, with the text on them. */
  readonly accent: string;
  readonly onAccent: string;
  readonly accentHover: string;
  /** The edge of what is filled with the accent: visible on every surface. */
  readonly accentEdge: string;
  /** Links and the focus ring. */
  readonly link: string;
  /** Behind the card, from one end to the other; absent: the page's own. */
  readonly backdrop?: { readonly from: string; readonly to: string; readonly ink: string } | undefined;
}

export interface Palette {
  readonly light: Scheme;
  readonly dark: Scheme;
}

export const defaultAccent = '#1f6f5c';

/** The background colours of text and buttons; the same values as `--page` and `--surface` in latchkey.css. */
export const surfaces = {
  light: ['#f4f4f1', '#ffffff'],
  dark: ['#101214', '#191c1f'],
} as const;

const TEXT = 4.5;
const SHAPE = 3;
const WHITE = '#ffffff';
const BLACK = '#000000';

export const isColor = (value: unknown): value is string =>
  typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value);

const parse = (color: string): Rgb => {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
};

const format = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

const linear = (part: number): number => {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

const gamma = (share: number): number =>
  255 * (share <= 0.0031308 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055);

const luminance = (color: string): number => {
  const [red, green, blue] = parse(color);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
};

/** @returns the WCAG contrast ratio of two `#rrggbb` colours, 1 to 21 */
export const contrast = (one: string, other: string): number => {
  const [first, second] = [luminance(one), luminance(other)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
};

/** Lightness 0 to 1, chroma, and hue in radians. */
interface Lch {
  readonly l: number;
  readonly c: number;
  readonly h: number;
}

function lchOf(color: string): Lch {
  const [red, green, blue] = parse(color);
  const [r, g, b] = [linear(red), linear(green), linear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const [x, y] = [
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(x, y),
    h: Math.atan2(y, x),
  };
}

/** Linear parts, which are outside of 0 to 1 where screens cannot show the colour. */
function linearOf({ l: lightness, c, h }: Lch): Rgb {
  const [x, y] = [c * Math.cos(h), c * Math.sin(h)];
  const l = (lightness + 0.3963377774 * x + 0.2158037573 * y) ** 3;
  const m = (lightness - 0.1055613458 * x - 0.0638541728 * y) ** 3;
  const s = (lightness - 0.0894841775 * x - 1.291485548 * y) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** The colour, as strong as screens can show it at this lightness. */
function colorOf({ l, c, h }: Lch): string {
  const lightness = Math.min(1, Math.max(0, l));
  const isShown = (chroma: number): boolean =>
    linearOf({ l: lightness, c: chroma, h }).every((part) => part >= -0.0005 && part <= 1.0005);
  let [low, high] = [0, c];
  if (isShown(c)) low = c;
  else
    for (let round = 0; round < 12; round += 1) {
      const middle = (low + high) / 2;
      if (isShown(middle)) low = middle;
      else high = middle;
    }
  const clip = (part: number): number => gamma(Math.min(1, Math.max(0, part)));
  const [red, green, blue] = linearOf({ l: lightness, c: low, h });
  return format([clip(red), clip(green), clip(blue)]);
}

const isReadable = (color: string, on: readonly string[], least: number): boolean =>
  on.every((background) => contrast(color, background) >= least);

/**
 * @param towards 0: darker, 1: lighter
 * @returns the nearest colour of the same hue with at least `least` contrast to all of `on`; `color` itself where it has that
 */
export function readable(color: string, towards: 0 | 1, on: readonly string[], least: number): string {
  if (isReadable(color, on, least)) return color;
  const { l, c, h } = lchOf(color);
  const step = towards === 1 ? 0.01 : -0.01;
  for (let lightness = l + step; lightness > 0 && lightness < 1; lightness += step) {
    // Checks the colour as written: rounding to eight bits must not fall below the contrast.
    const candidate = colorOf({ l: lightness, c, h });
    if (isReadable(candidate, on, least)) return candidate;
  }
  return towards === 1 ? WHITE : BLACK;
}

// One of black and white always has at least 4.58:1; prefers white where both are sufficient, as is usual on buttons.
export const inkOn = (fill: string): string => (contrast(fill, WHITE) >= TEXT ? WHITE : BLACK);

const shifted = (color: string, by: number): string => {
  const { l, c, h } = lchOf(color);
  return colorOf({ l: l + by, c, h });
};

const between = (from: string, to: string, share: number): string => {
  const [start, end] = [parse(from), parse(to)];
  const blend = (index: 0 | 1 | 2): number => start[index] + (end[index] - start[index]) * share;
  return format([blend(0), blend(1), blend(2)]);
};

// Between the ends of a gradient a colour may be darker than both.
const SAMPLES = Array.from({ length: 21 }, (_, index) => index / 20);
const MARGIN = 0.1;

/** A gradient stays as near to flat as its text needs: the one ink must be readable on all of it. */
function backdropOf(from: string, accent: string, isGradient: boolean): NonNullable<Scheme['backdrop']> {
  const ink = inkOn(from);
  for (let share = isGradient ? 0.35 : 0; share > 0; share -= 0.05) {
    const to = between(from, accent, share);
    const all = SAMPLES.map((at) => between(from, to, at));
    if (all.every((one) => contrast(ink, one) >= TEXT + MARGIN)) return { from, to, ink };
  }
  return { from, to: from, ink };
}

interface Pick {
  readonly accent: string;
  /** Whether the accent was picked for this scheme: then buttons have it as it is. */
  readonly isOwn: boolean;
  readonly background: string | undefined;
  readonly isGradient: boolean;
}

function schemeOf(kind: 'light' | 'dark', { accent: wanted, isOwn, background, isGradient }: Pick): Scheme {
  const away = kind === 'light' ? 0 : 1;
  const on = surfaces[kind];
  const accent = isOwn ? wanted : readable(wanted, away, on, SHAPE);
  const onAccent = inkOn(accent);
  return {
    accent,
    onAccent,
    // Away from the ink, so that it never gets harder to read.
    accentHover: shifted(accent, onAccent === WHITE ? -0.06 : 0.06),
    accentEdge: readable(accent, away, on, SHAPE),
    link: readable(wanted, away, on, TEXT),
    ...(background !== undefined && { backdrop: backdropOf(background, accent, isGradient) }),
  };
}

/** The same hue as a background for the dark: deep, and not loud. */
const darkened = (background: string): string => {
  const { l, c, h } = lchOf(background);
  return colorOf({ l: Math.min(l, 0.22), c: Math.min(c, 0.06), h });
};

const known = (color: string | undefined): string | undefined =>
  isColor(color) ? color.toLowerCase() : undefined;

/** @param picked what is no `#rrggbb` counts as not picked */
export function paletteOf(picked: Picked): Palette {
  const accent = known(picked.accent) ?? defaultAccent;
  const accentDark = known(picked.accentDark);
  const background = known(picked.background);
  const backgroundDark = known(picked.backgroundDark) ?? (background && darkened(background));
  const isGradient = picked.isGradient === true;
  return {
    light: schemeOf('light', { accent, isOwn: true, background, isGradient }),
    dark: schemeOf('dark', {
      accent: accentDark ?? accent,
      isOwn: accentDark !== undefined,
      background: backgroundDark,
      isGradient,
    }),
  };
}

export interface ContrastPair {
  readonly use: 'button_text' | 'button' | 'link' | 'focus' | 'backdrop_text';
  readonly scheme: 'light' | 'dark';
  readonly color: string;
  readonly on: string;
  readonly ratio: number;
  /** WCAG 2.2 AA. */
  readonly least: number;
  /** What was picked, where the colour is another: on the ground that is worst for it. */
  readonly instead?: { readonly color: string; readonly ratio: number } | undefined;
}

/** @returns every pair of colours that stand on each other, worst background each */
export function contrastsOf(picked: Picked): ContrastPair[] {
  const palette = paletteOf(picked);
  return (['light', 'dark'] as const).flatMap((scheme) => {
    const { accent, onAccent, accentHover, accentEdge, link, backdrop } = palette[scheme];
    const wanted = (scheme === 'dark' ? known(picked.accentDark) : undefined) ?? known(picked.accent);
    const pair = (
      use: ContrastPair['use'],
      color: string,
      on: readonly string[],
      least: number,
      isPicked: boolean,
    ): ContrastPair => {
      const [worst = color] = [...on].sort((one, other) => contrast(color, one) - contrast(color, other));
      const isOther = isPicked && wanted !== undefined && wanted !== color;
      const instead = isOther
        ? { color: wanted, ratio: Math.min(...on.map((one) => contrast(wanted, one))) }
        : undefined;
      return { use, scheme, color, on: worst, ratio: contrast(color, worst), least, instead };
    };
    const ends = backdrop && SAMPLES.map((at) => between(backdrop.from, backdrop.to, at));
    return [
      pair('button_text', onAccent, [accent, accentHover], TEXT, false),
      pair('button', accentEdge, surfaces[scheme], SHAPE, true),
      pair('link', link, surfaces[scheme], TEXT, true),
      pair('focus', link, surfaces[scheme], SHAPE, true),
      ...(backdrop && ends ? [pair('backdrop_text', backdrop.ink, ends, TEXT, false)] : []),
    ];
  });
}
