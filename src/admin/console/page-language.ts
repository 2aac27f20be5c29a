// The language of a page of the Admin UI, and what formats its values.
import type Koa from 'koa';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { type Language, languageOfPage } from '../../views/index.ts';
import { createFormats } from '../pages/format.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';

type Who = Pick<SignedInAdmin, 'account'>;

/** The page repeats its address for the way back; a link to it can be as long as its maker likes. */
const MAX_HERE = 2000;

export function createPageLanguage({ views, clock }: ProtocolDoors) {
  const of = (ctx: Koa.Context, who?: Who): Language => languageOfPage(ctx, who?.account.profile.locale);
  return {
    of,
    /** Before a page is shown: loads its texts, once for each language. */
    learn: (ctx: Koa.Context, who?: Who): Promise<void> => views.learnAdminTexts(of(ctx, who)),
    formatsIn: (language: Language) =>
      createFormats(clock(), language, (text) => views.adminText(language, text)),
    /** What the foot of a page offers: the account's own language leads to the account. */
    choiceOf: (ctx: Koa.Context, { account }: Who) => ({
      languagePage: ctx.method === 'GET' && ctx.originalUrl.length < MAX_HERE ? ctx.originalUrl : '',
      hasOwnLanguage: account.profile.locale !== undefined,
    }),
  };
}
