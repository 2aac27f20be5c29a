// Runtime settings: what there is (src/model/settings), reading and changing them while processes run (settings.ts, where
// to start), and the values as they are at start. Boot configuration is src/config.
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import * as model from '../store/collections.ts';
import { enterStore } from '../store/mark.ts';
import type { Store } from '../store/port.ts';
import { createSettings, type Settings } from './settings.ts';
import type { SettingSealer } from './stored.ts';

export type { SettingValues } from '../model/settings/settings.ts';
export { type AuthMode, arePasswordsOff } from './auth-mode.ts';
export { changedSmtpUrl, type GivenMailServer, hasMailServer, mailServerOf } from './mail-server.ts';
export { resealSettings } from './reseal-settings.ts';
export type { SettingChange, SettingDescription, Settings } from './settings.ts';

interface Parts {
  readonly store: Store;
  readonly sealer: SettingSealer;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** What the setting starts with (SMTP_URL); nothing where there is a value already. */
  readonly smtpUrl: string | undefined;
  readonly version: string;
}

/** A change holds everywhere within a second; the scheduler looks once a second, and must not come a moment too early. */
const POLL_MS = 900;

/**
 * @throws OperatorError when this version is too old for the store
 * @throws StoreUnavailable
 */
export async function startSettings({
  store,
  sealer,
  clock,
  log,
  smtpUrl,
  version,
}: Parts): Promise<Settings> {
  const { born } = await enterStore({ store, clock, version });
  const collection = store.collection(model.settings);
  const settings = createSettings({
    collection,
    sealer,
    clock,
    stamp: () => store.stamp(),
    born,
    pollMs: POLL_MS,
  });
  await settings.refresh();
  if (smtpUrl !== undefined && settings.current().smtp_url === '') {
    await settings.patch({ smtp_url: smtpUrl }, 'environment');
  }
  for (const problem of settings.problems()) log.warn({ problem }, 'stored setting not usable');
  return settings;
}
