// Renders a template and its model to an HTML response: language, branding, asset addresses and the page's own
// Content-Security-Policy. The only file that imports nunjucks.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import nunjucks from 'nunjucks';
import { dateFormat } from '../dates.ts';
import { errorRows, isErrorCode } from '../model/errors/errors.ts';
import { about, named } from '../phrase.ts';
import type { PlaceOf } from '../places/index.ts';
import { createAdminLanguages } from './admin-languages.ts';
import { loadAssets } from './assets.ts';
import { brandOf, pictureUrl } from './brand.ts';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { type Addressed, formAddress } from './form-address.ts';
import type { Text } from './form-page.ts';
import { initialOf } from './initial.ts';
import { chosenLanguage } from './language-choice.ts';
import { canSwitch } from './language-switch.ts';
import type { PageModels, PageName } from './pages.ts';
import { safeImage, safeLink } from './safe-urls.ts';
import { countdown, escapeHtml, isLongName, shortened, withBreaks } from './shown-text.ts';
import { type StillMail, type StillPage, still, stillPolicy } from './still.ts';
import {
  chooseLanguage,
  direction,
  fill,
  type Language,
  languageNames,
  loadStrings,
  localesIn,
  matchLanguage,
  type Strings,
} from './strings.ts';
import { pictureCss, type Theme, themeCss } from './theme.ts';
import { timeAgo, UNITS } from './time-ago.ts';
import { vendored } from './vendored.ts';

export interface SendOptions {
  /** Default: the model's own `status`, else 200. */
  readonly status?: number | undefined;
  /** URIs that the page's forms may lead to besides this host: Chromium applies form-action to redirects after a POST too. */
  readonly formAction?: readonly string[] | undefined;
  /** URIs of other sites that the page loads in frames (legacy profile); only their origins may be framed. */
  readonly frames?: readonly string[] | undefined;
  /** The language whatever the browser asks for, if pages exist in it: the owner's setting, or a page in one language. */
  readonly language?: string | undefined;
  /** The request's `ui_locales` (OpenID Connect Core §3.1.2.1); takes precedence over Accept-Language. */
  readonly uiLocales?: string | undefined;
  /** Whether the page shows others of ours in frames. */
  readonly hasFrames?: boolean | undefined;
  /** Where the page can be opened again in another language; default: the address of a GET request. */
  readonly here?: string | undefined;
}

/** Narrow: oidc-provider's contexts fit too. */
export type PageContext = Pick<Context, 'get' | 'set' | 'status' | 'body' | 'method' | 'originalUrl'>;

type StillContext = PageContext & Pick<Context, 'acceptsEncodings'>;

export interface Views {
  /** Responds with templates/<template>.njk; throws when the template uses something that the model does not have. */
  send<T extends string>(
    ctx: PageContext,
    template: T,
    model: T extends PageName ? PageModels[T] : object,
    options?: SendOptions,
  ): void;
  /** Responds with a page of the gallery: nothing in it acts, and only a page of ours can frame it (still.ts). */
  sendStill(ctx: StillContext, shown: StillPage | StillMail, scheme: 'light' | 'dark'): void;
  /** Once per language; until then `send` answers pages of the Admin UI in English. */
  learnAdminTexts(language: Language): Promise<void>;
  /** @returns a text of the Admin UI in a language that was learnt, else as it is */
  adminText(language: Language, text: string): string;
  /** Serves {basePath}/assets/…; passes other requests on. */
  assetRoutes(): Middleware;
}

export const templates = new URL('../../templates/', import.meta.url);

type Values = Readonly<Record<string, unknown>>;
type Shown = Pick<StillPage, 'language' | 'theme'> & Addressed & { readonly isMailOff?: boolean };

interface EnvironmentOptions {
  /** Whether values are escaped; false only for plain text. */
  readonly isHtml: boolean;
  /** Default: the files as they are. */
  readonly loader?: nunjucks.ILoader | undefined;
}

export const createEnvironment = ({ isHtml, loader }: EnvironmentOptions): nunjucks.Environment => {
  const from = loader ?? new nunjucks.FileSystemLoader(fileURLToPath(templates));
  const environment = new nunjucks.Environment(from, {
    autoescape: isHtml,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
  environment.addFilter('link', safeLink);
  environment.addFilter('image', safeImage);
  environment.addFilter('short', shortened);
  environment.addFilter('about', about);
  environment.addFilter('name', named);
  environment.addFilter('initial', initialOf);
  environment.addFilter(
    'breaks',
    (value: unknown) => new nunjucks.runtime.SafeString(withBreaks(escapeHtml(String(value)))),
  );
  environment.addFilter('countdown', countdown);
  return environment;
};

/** The functions with which templates produce text in the page's language. */
export const textFunctions = (strings: Strings, language: Language) => {
  const find = (key: string): string => {
    const text = strings.find(language, key);
    if (text === undefined) throw new TypeError(`there is no string ${key}`);
    return text;
  };
  const t = (key: string, values: Values = {}): string =>
    fill(find(key), (name) => String(values[name] ?? ''));
  const say = (text: Text): string => {
    if (typeof text !== 'string') return t(text.key, text.values);
    return strings.find(language, text) ?? strings.problem(language, text) ?? text;
  };
  return {
    t,
    say,
    has: (key: string): boolean => strings.find(language, key) !== undefined,
    /** As `t`, but HTML: users' texts are emphasised and isolated, so that they cannot reorder the sentence (bidi). */
    rich: (key: string, values: Values = {}) => {
      const put = (name: string): string => {
        const value = String(values[name] ?? '');
        const kind = isLongName(value) ? ' class="long"' : '';
        return `<b${kind}><bdi>${withBreaks(escapeHtml(value))}</bdi></b>`;
      };
      const html = fill(escapeHtml(find(key)), put);
      return new nunjucks.runtime.SafeString(html);
    },
    /** A message of an error of ours in the page's language; any other message unchanged. */
    explain: (message: Text, reason: unknown): string => {
      const isGeneric = isErrorCode(reason) && message === errorRows[reason].message;
      return say(isGeneric && strings.find(language, `reason.${reason}`) ? `reason.${reason}` : message);
    },
    /** In words, with the language's plural form. */
    days: (count: number): string =>
      new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(count),
    /** Such as "24 hours": in the largest unit that divides it; in days from two days on. */
    duration: (seconds: number): string => {
      const [unit, length] = UNITS.find(
        ([name, each]) => seconds % each === 0 && seconds >= each * (name === 'day' ? 2 : 1),
      ) ?? ['minute', 60];
      const count = Math.max(1, Math.round(seconds / length));
      return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
    },
    date: (at: number): string => dateFormat(language, { dateStyle: 'medium' }).format(at),
    isoTime: (at: number): string => new Date(at).toISOString(),
    /** To the minute, with a time zone, since the reader's is unknown. */
    exactTime: (at: number): string =>
      dateFormat(language, {
        year: 'numeric',
        month: 'short',
        day: 'numeric',
        hour: 'numeric',
        minute: '2-digit',
        timeZone: 'UTC',
        timeZoneName: 'short',
      }).format(at),
    timeAgo: (at: number, now: number): string => timeAgo(language, at, now),
  };
};

const isAdminPage = (template: string): boolean => template.startsWith('admin/');

const clientIdOf = (model: object): string | undefined =>
  'clientId' in model && typeof model.clientId === 'string' ? model.clientId : undefined;

/**
 * @param deps.theme returns the current branding, of an application's pages its own; called for every page
 * @param deps.iconOf returns the picture that an administrator gave an application; default: there are none
 * @param deps.placeOf in words of the page's language, where an address is; default: no one knows
 * @param deps.basePath the path part of the public address, '' or like `/auth`; prefix of all our links
 * @param deps.host of the public address; shown where an application has the page look like itself
 * @param deps.origin at which forms work; default: wherever the page is opened
 */
export const createViews = (deps: {
  theme: (clientId?: string) => Theme;
  iconOf?: ((clientId: string) => string | undefined) | undefined;
  basePath: string;
  host?: string;
  origin?: string;
  placeOf?: PlaceOf | undefined;
  /** Whether there is no mail server: then no page promises mail; default: there is one. */
  isMailOff?: () => boolean;
}): Views => {
  const { basePath, host = '', origin = '', placeOf } = deps;
  const iconOf = (clientId: unknown): string => {
    const id = typeof clientId === 'string' ? deps.iconOf?.(clientId) : undefined;
    return id === undefined ? '' : pictureUrl(basePath, id);
  };
  const forPages = (loader?: nunjucks.ILoader): nunjucks.Environment => {
    const environment = createEnvironment({ isHtml: true, loader });
    // The picture that a person gave, on this server: as it stands beside a name, and large.
    for (const [name, size] of [
      ['face', 96],
      ['portrait', 256],
    ] as const)
      environment.addFilter(name, (avatarId: unknown) =>
        typeof avatarId === 'string' ? `${basePath}/avatars/${encodeURIComponent(avatarId)}/${size}.jpg` : '',
      );
    return environment;
  };
  const environment = forPages();
  const adminLanguages = createAdminLanguages(templates, (loader, functions) => {
    const translated = forPages(loader);
    for (const [name, value] of Object.entries(functions)) translated.addGlobal(name, value);
    return translated;
  });
  const strings = loadStrings(new URL('strings/', templates));
  const assets = loadAssets({ directory: new URL('assets/', templates), vendored, basePath });
  const render = (
    template: string,
    model: object,
    { language, theme, here, at, nonce, isMailOff = false }: Shown,
  ): string => {
    const own = isAdminPage(template) ? adminLanguages.of(language) : undefined;
    const texts = textFunctions(strings, language);
    const brand = brandOf(theme, language, { basePath, host });
    return (own?.environment ?? environment).render(`${template}.njk`, {
      ...model,
      ...texts,
      ...own?.texts(texts.t),
      language,
      direction: direction(language),
      nonce,
      brand,
      brandCss: themeCss(theme.accentColor, theme.look) + pictureCss(brand.backgroundUrl),
      iconOf,
      asset: assets.url,
      base: basePath,
      // The Admin UI is reached by a sign-in, which says it.
      origin: isAdminPage(template) ? '' : origin,
      // On a page of the Admin UI it is the entry of the navigation, which the model names.
      here: canSwitch(template, here) ? here : 'here' in model ? model.here : '',
      at,
      mailOff: 'mailOff' in model ? model.mailOff === true : isMailOff,
      languageNames,
      place: (ipAddress: unknown): string =>
        (typeof ipAddress === 'string' && placeOf?.(ipAddress, language)) || '',
    });
  };
  return {
    learnAdminTexts: adminLanguages.learn,
    adminText: (language, text) => adminLanguages.of(language)?.say(text) ?? text,
    send: (ctx, template, model, options = {}) => {
      const asked =
        matchLanguage(options.language) ??
        chosenLanguage(ctx.get('Cookie')) ??
        chooseLanguage(options.uiLocales ?? localesIn(ctx.originalUrl), ctx.get('Accept-Language'));
      const language = isAdminPage(template) && adminLanguages.of(asked) === undefined ? 'en' : asked;
      const { here = ctx.method === 'GET' ? ctx.originalUrl : '' } = options;
      const ownStatus = 'status' in model && typeof model.status === 'number' ? model.status : 200;
      const status = options.status ?? ownStatus;
      const nonce = randomBytes(16).toString('base64');
      const theme = deps.theme(clientIdOf(model));
      const at = ctx.method === 'POST' && status >= 400 ? here || formAddress(ctx.originalUrl, model) : '';
      const isMailOff = deps.isMailOff?.() === true;
      const html = render(template, model, { language, theme, here, at, nonce, isMailOff });
      ctx.status = status;
      ctx.set('Content-Type', 'text/html; charset=utf-8');
      ctx.set('Content-Language', language);
      // Never compressed: a page contains a token next to text that the requester chose (BREACH).
      ctx.set('Cache-Control', 'no-store');
      // Its forms then say by Origin that they are ours, where browsers leave Sec-Fetch-Site out (plain http); others learn nothing.
      ctx.set('Referrer-Policy', 'same-origin');
      ctx.set('Content-Security-Policy', contentSecurityPolicy(nonce, options));
      ctx.body = html;
    },
    sendStill: (ctx, shown, scheme) => {
      const nonce = randomBytes(16).toString('base64');
      const isMail = 'html' in shown;
      const html = isMail
        ? shown.html.replace('cid:logo', shown.logo === undefined ? '' : pictureUrl(basePath, shown.logo))
        : render(shown.template, shown.model, { ...shown, here: `${basePath}/`, at: '', nonce });
      ctx.status = 200;
      ctx.set('Content-Type', 'text/html; charset=utf-8');
      ctx.set('Cache-Control', 'no-store');
      ctx.set('X-Frame-Options', 'SAMEORIGIN');
      ctx.set('Content-Security-Policy', stillPolicy(nonce, isMail));
      const body = still(html, { nonce, scheme, styleSheet: assets.text });
      // Nothing in it is secret, so it may be compressed.
      const isCompressed = ctx.acceptsEncodings('gzip') === 'gzip';
      if (isCompressed) ctx.set('Content-Encoding', 'gzip');
      ctx.body = isCompressed ? gzipSync(body) : body;
    },
    assetRoutes: assets.routes,
  };
};
