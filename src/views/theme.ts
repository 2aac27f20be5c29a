// Turns an operator's accent colour into custom properties that stay readable (WCAG 2.2 §1.4.3, §1.4.11) on every surface,
// light and dark.

export interface Theme {
  readonly productName: string;
  readonly logoUrl: string;
  /** `#rrggbb`; anything else falls back to the default accent. */
  readonly accentColor: string;
  readonly supportUrl: string;
  readonly privacyUrl: string;
  readonly termsUrl: string;
}

/** From the settings of the group Branding. */
export const themeOf = (settings: {
  readonly product_name: string;
  readonly logo_url: string;
  readonly accent_color: string;
  readonly support_url: string;
  readonly privacy_url: string;
  readonly terms_url: string;
}): Theme => ({
  productName: settings.product_name,
  logoUrl: settings.logo_url,
  accentColor: settings.accent_color,
  supportUrl: settings.support_url,
  privacyUrl: settings.privacy_url,
  termsUrl: settings.terms_url,
});

type Rgb = readonly [number, number, number];

export const defaultAccent = '#1f6f5c';

/** The background colours of text and buttons; the same values as `--page` and `--surface` in latchkey.css. */
export const surfaces = {
  light: ['#f4f4f1', '#ffffff'],
  dark: ['#101214', '#191c1f'],
} as const;

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

const isColor = (value: string): boolean => /^#[0-9a-f]{6}$/i.test(value);

const parse = (color: string): Rgb => {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
};

const format = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

const luminance = (color: Rgb): number => {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
};

const ratio = (one: Rgb, other: Rgb): number => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
};

/** @returns the WCAG contrast ratio of two `#rrggbb` colours, 1 to 21 */
export const contrast = (one: string, other: string): number => ratio(parse(one), parse(other));

const mix = (color: Rgb, target: Rgb, share: number): Rgb => {
  const blend = (index: 0 | 1 | 2): number => color[index] + (target[index] - color[index]) * share;
  return [blend(0), blend(1), blend(2)];
};

/** The colour closest to `color`, mixed towards `target`, with at least `least` contrast to all of `backgrounds`. */
const readable = (color: Rgb, target: Rgb, backgrounds: readonly Rgb[], least: number): Rgb => {
  for (let share = 0; share < 1; share += 0.02) {
    // Checks the value as written: rounding to eight bits must not fall below the required contrast.
    const candidate = parse(format(mix(color, target, share)));
    if (backgrounds.every((background) => ratio(candidate, background) >= least)) return candidate;
  }
  return target;
};

// One of black and white always has at least 4.58:1; prefers white where both are sufficient, as is usual on buttons.
const textColorOn = (fill: Rgb): Rgb => (ratio(fill, white) >= 4.5 ? white : black);

const properties = (accent: Rgb, away: Rgb, backgrounds: readonly Rgb[]): string => {
  const fill = readable(accent, away, backgrounds, 3);
  const ink = textColorOn(fill);
  const hover = mix(fill, ink === white ? black : white, 0.14);
  const link = readable(accent, away, backgrounds, 4.5);
  return `--accent:${format(fill)};--accent-hover:${format(hover)};--on-accent:${format(ink)};--link:${format(link)}`;
};

const accentOf = (accentColor: string): Rgb => parse(isColor(accentColor) ? accentColor : defaultAccent);

/** The colours of a mail, where there are no custom properties; each `#rrggbb`. */
export interface MailColors {
  readonly page: string;
  readonly sheet: string;
  readonly soft: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly link: string;
  /** Of the button, and the text on it. */
  readonly fill: string;
  readonly ink: string;
}

/** The same values as in latchkey.css. */
const mailSurfaces = {
  light: {
    page: '#f4f4f1',
    sheet: '#ffffff',
    soft: '#f4f4f1',
    line: '#e2e2dd',
    text: '#1a1c1e',
    muted: '#5b6067',
  },
  dark: {
    page: '#101214',
    sheet: '#191c1f',
    soft: '#23272b',
    line: '#33383e',
    text: '#eceef0',
    muted: '#a9afb7',
  },
} as const;

/** The light ones stay readable in programs that know no dark mode of a mail's own and invert its colours. */
export const mailColors = (accentColor: string, scheme: 'light' | 'dark'): MailColors => {
  const own = mailSurfaces[scheme];
  const away = scheme === 'light' ? black : white;
  const backgrounds = [own.page, own.sheet, own.soft].map(parse);
  const accent = accentOf(accentColor);
  const link = readable(accent, away, backgrounds, 4.5);
  // White on the darker fill stays readable when both are inverted; black on a middling one would not.
  const fill = scheme === 'light' ? link : readable(accent, away, backgrounds, 3);
  return { ...own, link: format(link), fill: format(fill), ink: format(textColorOn(fill)) };
};

/**
 * @param accentColor the operator's colour; never reaches the page unless it is `#rrggbb`
 * @returns a style sheet that sets --accent, --accent-hover, --on-accent and --link for both colour schemes
 */
export const themeCss = (accentColor: string): string => {
  const accent = accentOf(accentColor);
  const light = properties(accent, black, surfaces.light.map(parse));
  const dark = properties(accent, white, surfaces.dark.map(parse));
  return `:root{${light}}@media(prefers-color-scheme:dark){:root{${dark}}}`;
};
