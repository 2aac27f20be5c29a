// How pages look, what renders them, and what protects their forms.

import { createLookEncoder } from '../avatars/index.ts';
import type { Base } from '../base.ts';
import { type Branding, startBranding } from '../branding/index.ts';
import type { Csrf } from '../http/index.ts';
import { createCsrf } from '../http/serving.ts';
import type { createMail } from '../mail/index.ts';
import { hasMailServer, type Settings } from '../settings/index.ts';
import { createViews, themeOf, type Views } from '../views/index.ts';

/** @throws StoreUnavailable */
export async function startPages(base: Base & { readonly settingsInStore: Settings }): Promise<{
  readonly branding: Branding;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly ofMails: Pick<Parameters<typeof createMail>[0], 'look' | 'logo' | 'ownTexts'>;
}> {
  const { settings, settingsInStore, baseUrl, basePath, cookieKeys } = base;
  const branding = await startBranding({ ...base, settings: settingsInStore, encode: createLookEncoder() });
  const { lookOf, iconOf } = branding.looks;
  const theme = (clientId?: string) => themeOf(settings(), lookOf(clientId));
  const views = createViews({
    theme,
    iconOf,
    basePath,
    host: new URL(baseUrl).host,
    origin: new URL(baseUrl).origin,
    placeOf: base.placeOf,
    isMailOff: () => !hasMailServer(settings()),
  });
  const csrf = createCsrf({
    keys: cookieKeys,
    isSecure: baseUrl.startsWith('https:'),
    cookiePath: basePath === '' ? '/' : basePath,
  });
  const logo = () => branding.pictures.attachment(lookOf()?.logo);
  return {
    branding,
    views,
    csrf,
    ofMails: { look: () => lookOf(), logo, ownTexts: branding.looks.mailTexts },
  };
}
