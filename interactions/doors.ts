import type { ProtocolDoors } from '../src/oidc/index.ts';
import type { KnownBrowsers } from './known-browsers.ts';

export interface InteractionDoors extends ProtocolDoors {
  readonly browsers: KnownBrowsers;
}
