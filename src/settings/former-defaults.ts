// Defaults that a version changed (`former` of a row). An installation from before keeps the former one as its own, by the mark of its
// store; and what is absent in settings that an older version wrote last had that version's default, since it stores no value that is
// one (decision 0041).
import { type SettingKey, type SettingValue, settingKeys, settingRow } from '../model/settings/settings.ts';
import type { SettingsRecord } from '../store/collections.ts';

/** A value of these is stored also where it is the default: an older version's default is another one. */
export const hasChangedDefault = (key: SettingKey): boolean => settingRow(key).former !== undefined;

/**
 * @param born the model with which the installation began
 * @param written the settings as they are stored; absent: only what holds whoever writes
 * @returns the defaults that are not those of the rows
 */
export const formerDefaults = (
  born: number,
  written?: Pick<SettingsRecord, 'model'>,
): ReadonlyMap<SettingKey, SettingValue> =>
  new Map(
    settingKeys.flatMap((key) => {
      const { former } = settingRow(key);
      const holds =
        former !== undefined &&
        (born < former.since || (written !== undefined && (written.model ?? 0) < former.since));
      return holds ? [[key, former.was]] : [];
    }),
  );
