// The colours of mails, made of the accent like those of pages (palette.ts).
import { defaultAccent, inkOn, isColor, readable } from './palette.ts';

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
  const away = scheme === 'light' ? 0 : 1;
  const backgrounds = [own.page, own.sheet, own.soft];
  const accent = isColor(accentColor) ? accentColor : defaultAccent;
  const link = readable(accent, away, backgrounds, 4.5);
  // White on the darker fill stays readable when both are inverted; black on a middling one would not.
  const fill = scheme === 'light' ? link : readable(accent, away, backgrounds, 3);
  return { ...own, link, fill, ink: inkOn(fill) };
};
