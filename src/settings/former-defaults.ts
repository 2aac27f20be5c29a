// Defaults that a version changed. An installation from before keeps the former one as its own, by the mark of its store; and what is
// absent in settings that an older version wrote last had that version's default, since it stores no value that is one (decision 0041).
import type { SettingsRecord } from '../store/collections.ts';
import type { SettingKey } from './schema.ts';

const changedDefaults: readonly {
  readonly key: SettingKey;
  readonly since: number;
  readonly was: boolean;
}[] = [{ key: 'require_pkce', since: 1, was: true }];

/** A value of these is stored also where it is the default: an older version's default is another one. */
export const hasChangedDefault = (key: SettingKey): boolean => changedDefaults.some((one) => one.key === key);

/**
 * @param born the model with which the installation began
 * @param written the settings as they are stored; absent: only what holds whoever writes
 * @returns the defaults that are not those of the definitions
 */
export const formerDefaults = (
  born: number,
  written?: Pick<SettingsRecord, 'model'>,
): ReadonlyMap<SettingKey, boolean> =>
  new Map(
    changedDefaults
      .filter(({ since }) => born < since || (written !== undefined && (written.model ?? 0) < since))
      .map(({ key, was }) => [key, was]),
  );
