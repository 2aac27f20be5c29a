// Choosing the language of the sign-in pages: a form, so that it works without scripts, which leads back to its page.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import type { Form } from '../src/http/index.ts';
import { isLanguage, languageCookieName } from '../src/views/index.ts';
import { createPreferenceCookie } from './preference-cookie.ts';

interface Deps {
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  readonly baseUrl: string;
  readonly basePath: string;
}

export interface LanguageChoice {
  submit(ctx: Koa.Context): Promise<void>;
}

export function createLanguageChoice({ readForm, baseUrl, basePath }: Deps): LanguageChoice {
  const isSecure = baseUrl.startsWith('https:');
  const cookie = createPreferenceCookie(languageCookieName(isSecure), { isSecure, basePath });

  /** Only to a page of ours (open redirect); a browser reads `//host` and `/\\host` as another host. */
  function backTo(asked: string | undefined): string {
    const url = asked?.startsWith(`${basePath}/`) ? URL.parse(asked, baseUrl) : null;
    const isOurs = url?.origin === new URL(baseUrl).origin && url.pathname.startsWith(`${basePath}/`);
    return isOurs ? `${url.pathname}${url.search}` : `${basePath}/`;
  }

  return {
    /** It changes nothing but this browser's language, so no token is needed. */
    async submit(ctx) {
      const form = await readForm(ctx);
      const language = form.get('language') ?? '';
      if (!isLanguage(language))
        throw new AppError('request.invalid', { fields: { language: 'is unknown' } });
      cookie.write(ctx, language);
      ctx.status = 303;
      ctx.set('Cache-Control', 'no-store');
      ctx.redirect(backTo(form.get('to')));
    },
  };
}
