// How pages look, and what renders them.
import { type Branding, startBranding } from '../branding/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import { createViews, themeOf, type Views } from '../views/index.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Pick<Events, 'on'>;
  readonly current: Pick<Settings, 'current' | 'looks' | 'countLooks'>;
  readonly baseUrl: string;
  readonly basePath: string;
}

/** @throws StoreUnavailable */
export async function startPages(deps: Deps): Promise<{ branding: Branding; views: Views }> {
  const { current: settings, baseUrl, basePath } = deps;
  const branding = await startBranding({ ...deps, settings });
  const { lookOf, iconOf } = branding.looks;
  const theme = (clientId?: string) => themeOf(settings.current(), lookOf(clientId));
  const views = createViews({ theme, iconOf, basePath, host: new URL(baseUrl).host });
  return { branding, views };
}
