// Owns putting together the runtime settings as they are at start (create-app.ts builds the rest).
import type { Clock } from '../clock.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { Logger } from '../log.ts';
import { createSettings, type Settings } from '../settings/settings.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';

interface Parts {
  readonly store: Store;
  readonly sealer: Sealer;
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
  if (smtpUrl !== undefined && settings.current().smtp_url === '') {
    await settings.patch({ smtp_url: smtpUrl }, 'environment');
  }
  for (const problem of settings.problems()) log.warn({ problem }, 'stored setting not usable');
  return settings;
}
