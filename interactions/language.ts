// Choosing the language of the sign-in pages: a form, so that it works without scripts, which leads back to its page.
import type Koa from 'koa';
import { invalid } from '../src/errors.ts';
import { createBackTo, readForm } from '../src/http/index.ts';
import { isLanguage, languageCookieName } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import { createPreferenceCookie } from './preference-cookie.ts';

export interface LanguageChoice {
  submit(ctx: Koa.Context): Promise<void>;
}

export function createLanguageChoice({ baseUrl, basePath }: AtHand): LanguageChoice {
  const isSecure = baseUrl.startsWith('https:');
  const cookie = createPreferenceCookie(languageCookieName(isSecure), { isSecure, basePath });

  const backTo = createBackTo(baseUrl);

  return {
    /** It changes nothing but this browser's language, so no token is needed. */
    async submit(ctx) {
      const form = await readForm(ctx);
      const language = form.get('language') ?? '';
      if (!isLanguage(language)) throw invalid({ language: 'is unknown' });
      cookie.write(ctx, language);
      ctx.status = 303;
      ctx.set('Cache-Control', 'no-store');
      ctx.redirect(backTo(form.get('to')));
    },
  };
}
