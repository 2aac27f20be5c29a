// Branding: how pages look, per installation and per application (looks.ts, where to start): versions, and what an application's
// look makes of the installation's. What was picked is stored; colours that can be read are computed of it where pages are
// rendered (src/views/palette.ts). The product's name and the links every page has are settings.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Settings } from '../settings/index.ts';
import { pictures as pictureCollection } from '../store/looks.ts';
import type { Store } from '../store/port.ts';
import { createLooks, type Looks } from './looks.ts';
import { createPictures, type EncodePictures, type Pictures } from './pictures.ts';

export type { Look } from '../store/looks.ts';
export { type Looks, type LookVersion, type SavedLook, type Target, targetOf } from './looks.ts';
export { MAX_PICTURE_BYTES, type Pictures, type PictureUse } from './pictures.ts';

export interface Branding {
  readonly looks: Looks;
  readonly pictures: Pictures;
}

/** @throws StoreUnavailable */
export async function startBranding(deps: {
  store: Store;
  clock: Clock;
  settings: Pick<Settings, 'looks' | 'countLooks'>;
  events: Pick<Events, 'on'>;
  encode: EncodePictures;
}): Promise<Branding> {
  const looks = createLooks(deps);
  await looks.refresh();
  deps.events.on('clientRemoving', ({ clientId }) => looks.forgetClient(clientId));
  const pictures = createPictures({ ...deps, collection: deps.store.collection(pictureCollection) });
  return { looks, pictures };
}
