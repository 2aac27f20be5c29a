// Where a release changes a default, an installation from before keeps the value that it had: it is written down once, at the
// first start of that release, and is a setting like any other from then on.
import type { Clock } from '../clock.ts';
import type { SettingsRecord, SigningKeyRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection } from '../store/port.ts';
import type { SettingKey } from './schema.ts';
import { SETTINGS_ID, type Settings } from './settings.ts';

const formerDefaults = { require_pkce: true } as const satisfies Partial<Record<SettingKey, unknown>>;

/** Its values are the settings that were seen to; a document of its own, so that the settings' version stays theirs. */
const SEEN_TO_ID = 'former_defaults';

const ACTOR = 'upgrade';

interface Deps {
  readonly collection: Collection<SettingsRecord>;
  /** An installation that has started once has a signing key. A new one writes its mark before its first key. */
  readonly signingKeys: Pick<Collection<SigningKeyRecord>, 'query'>;
  readonly settings: Pick<Settings, 'patch'>;
  readonly clock: Clock;
}

/** @throws StoreUnavailable */
export async function keepFormerDefaults({ collection, signingKeys, settings, clock }: Deps): Promise<void> {
  if ((await collection.find(SEEN_TO_ID)) !== undefined) return;
  const { total } = await signingKeys.query({ sort: 'id', order: 'asc', limit: 1 });
  // Again after the keys: another process may have started this very installation in between.
  if (total > 0 && (await collection.find(SEEN_TO_ID)) === undefined) {
    const stored = (await collection.find(SETTINGS_ID))?.value.values ?? {};
    const kept = Object.entries(formerDefaults).filter(([key]) => !Object.hasOwn(stored, key));
    if (kept.length > 0) await settings.patch(Object.fromEntries(kept), ACTOR);
  }
  try {
    await collection.insert(SEEN_TO_ID, { values: formerDefaults, updatedAt: clock(), updatedBy: ACTOR });
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}
