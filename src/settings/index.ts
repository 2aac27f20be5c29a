// Runtime settings: what there is (schema.ts, definitions.ts), reading and changing them while processes run (settings.ts, where
// to start), and the values as they are at start. Boot configuration is src/config.
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { keepFormerDefaults } from './former-defaults.ts';
import { createSettings, type Settings } from './settings.ts';
import type { SettingSealer } from './stored.ts';

export { type AuthMode, arePasswordsOff } from './auth-mode.ts';
export { changedSmtpUrl, type GivenMailServer, mailServerOf } from './mail-server.ts';
export { resealSettings } from './reseal-settings.ts';
export { definitionOf, isSecretSetting, isSettingKey, type SettingValues, settingKeys } from './schema.ts';
export type { SettingChange, SettingDescription, Settings } from './settings.ts';

interface Parts {
  readonly store: Store;
  readonly sealer: SettingSealer;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** What the setting starts with (SMTP_URL); nothing where there is a value already. */
  readonly smtpUrl: string | undefined;
}

/** A change holds everywhere within a second; the scheduler looks once a second, and must not come a moment too early. */
const POLL_MS = 900;

/** @throws StoreUnavailable */
export async function startSettings({ store, sealer, clock, log, smtpUrl }: Parts): Promise<Settings> {
  const collection = store.collection(model.settings);
  const settings = createSettings({
    collection,
    sealer,
    clock,
    stamp: () => store.stamp(),
    pollMs: POLL_MS,
  });
  await settings.refresh();
  await keepFormerDefaults({ collection, signingKeys: store.collection(model.signingKeys), settings, clock });
  if (smtpUrl !== undefined && settings.current().smtp_url === '') {
    await settings.patch({ smtp_url: smtpUrl }, 'environment');
  }
  for (const problem of settings.problems()) log.warn({ problem }, 'stored setting not usable');
  return settings;
}
