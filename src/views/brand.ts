// What templates show of the branding: in the page's language, with addresses and sizes of pictures.
import type { Language } from './strings.ts';
import type { PageLook, Theme } from './theme.ts';

interface Picture {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** A text that may be in another language than the page. */
interface Said {
  readonly text: string;
  readonly language: Language;
}

export interface Brand extends Omit<Theme, 'look' | 'accentColor'> {
  readonly logo: Picture | undefined;
  readonly logoDark: Picture | undefined;
  readonly iconUrl: string | undefined;
  /** Of the picture behind the card. */
  readonly backgroundUrl: string | undefined;
  /** What the style sheet of branded pages goes by. */
  readonly bodyClass: string;
  readonly isNameInLogo: boolean;
  /** Whether the page needs more style than every page has. */
  readonly isStyled: boolean;
  readonly isSplit: boolean;
  readonly welcome: Said | undefined;
  readonly panel: Said | undefined;
  readonly help: Said | undefined;
  readonly links: readonly { readonly label: Said; readonly url: string }[];
  /** Where an application has the page look like itself: whose it is all the same. */
  readonly host: string | undefined;
}

/** Of a look, as large as they are shown at most; twice that is stored. */
const LOGO = { width: 200, height: 40 };

const pictureId = /^[A-Za-z0-9_-]{22}-(\d{1,4})x(\d{1,4})$/;

/** Where the logos and icons of looks are served. */
export const pictureUrl = (basePath: string, id: string): string => `${basePath}/pictures/${id}.png`;

function pictureOf(basePath: string, id: string | undefined): Picture | undefined {
  const [, width, height] = pictureId.exec(id ?? '') ?? [];
  if (id === undefined || width === undefined || height === undefined) return undefined;
  const share = Math.min(LOGO.width / Number(width), LOGO.height / Number(height), 1);
  const scaled = (length: string): number => Math.max(1, Math.round(Number(length) * share));
  return { url: pictureUrl(basePath, id), width: scaled(width), height: scaled(height) };
}

const backgroundUrlOf = (basePath: string, id: string | undefined): string | undefined =>
  id !== undefined && pictureId.test(id) ? `${basePath}/pictures/${id}.webp` : undefined;

/** In the page's language, else in English: a language that nobody wrote for has at least that. */
function said(language: Language, find: (language: Language) => string | undefined): Said | undefined {
  for (const one of [language, 'en'] as const) {
    const text = find(one);
    if (text !== undefined && text !== '') return { text, language: one };
  }
  return undefined;
}

function linksOf({ links = [] }: PageLook, language: Language): Brand['links'] {
  return links.flatMap(({ url, labels }) => {
    const label = said(language, (one) => labels[one]);
    return label === undefined ? [] : [{ label, url }];
  });
}

export function brandOf(
  theme: Theme,
  language: Language,
  { basePath, host }: { basePath: string; host: string },
): Brand {
  const { look = {}, productName, supportUrl, privacyUrl, termsUrl } = theme;
  const text = (name: 'welcome' | 'panel' | 'help') => said(language, (one) => look.texts?.[one]?.[name]);
  const isSplit = look.layout === 'split';
  const backgroundUrl = backgroundUrlOf(basePath, look.backgroundPicture);
  const [welcome, panel, help] = [text('welcome'), text('panel'), text('help')];
  return {
    productName,
    supportUrl,
    privacyUrl,
    termsUrl,
    logo: pictureOf(basePath, look.logo),
    logoDark: pictureOf(basePath, look.logoDark),
    iconUrl: pictureOf(basePath, look.icon)?.url,
    backgroundUrl,
    bodyClass: [isSplit ? 'split' : '', backgroundUrl === undefined ? '' : 'pictured'].join(' ').trim(),
    isNameInLogo: look.isNameInLogo === true && look.logo !== undefined,
    isSplit,
    isStyled:
      isSplit ||
      backgroundUrl !== undefined ||
      look.background !== undefined ||
      look.backgroundDark !== undefined ||
      welcome !== undefined ||
      help !== undefined ||
      look.isOfApplication === true,
    welcome,
    panel,
    help,
    links: linksOf(look, language),
    host: look.isOfApplication === true ? host : undefined,
  };
}
