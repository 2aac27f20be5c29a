// How pages look, what renders them, and what protects their forms.
import { createLookEncoder } from '../avatars/index.ts';
import { type Branding, startBranding } from '../branding/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import type { Csrf } from '../http/index.ts';
import { createCsrf } from '../http/serving.ts';
import type { createMail } from '../mail/index.ts';
import type { PlaceOf } from '../places/index.ts';
import { hasMailServer, type Settings } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import { createViews, themeOf, type Views } from '../views/index.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Pick<Events, 'on'>;
  readonly current: Pick<Settings, 'current' | 'looks' | 'countLooks'>;
  readonly placeOf: PlaceOf;
  readonly config: Pick<Config, 'baseUrl' | 'cookieKeys'> & { readonly basePath: string };
}

/** @throws StoreUnavailable */
export async function startPages(deps: Deps): Promise<{
  readonly branding: Branding;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly ofMails: Pick<Parameters<typeof createMail>[0], 'look' | 'logo' | 'ownTexts'>;
}> {
  const { current: settings, config } = deps;
  const { baseUrl, basePath, cookieKeys } = config;
  const branding = await startBranding({ ...deps, settings, encode: createLookEncoder() });
  const { lookOf, iconOf } = branding.looks;
  const theme = (clientId?: string) => themeOf(settings.current(), lookOf(clientId));
  const views = createViews({
    theme,
    iconOf,
    basePath,
    host: new URL(baseUrl).host,
    placeOf: deps.placeOf,
    isMailOff: () => !hasMailServer(settings.current()),
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
