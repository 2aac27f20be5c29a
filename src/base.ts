// What stands before the first domain. Each domain is handed it whole, with the doors below that it uses (decision 0042).
import type { Clock } from './clock.ts';
import type { Config } from './config/types.ts';
import type { Events } from './events/index.ts';
import type { Sealer } from './keys/index.ts';
import type { Logger } from './log.ts';
import type { SettingValues } from './model/settings/settings.ts';
import type { PlaceOf } from './places/index.ts';
import type { Store } from './store/port.ts';

export interface Base extends Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys' | 'secretKeys'> {
  /** The path of BASE_URL, without a trailing slash. */
  readonly basePath: string;
  /** Of the product. */
  readonly version: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Events;
  readonly settings: () => SettingValues;
  readonly placeOf: PlaceOf;
  readonly sealer: Sealer;
}
