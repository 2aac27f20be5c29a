import { isSecretSetting, isSettingKey } from '../model/settings/settings.ts';
import { settings } from '../store/collections.ts';
import { type Reseal, resealText, Unreadable } from '../store/reseal.ts';
import { update } from '../store/update.ts';
import { SETTINGS_ID } from './settings.ts';
import { purposeOf } from './stored.ts';

const sealedIn = (entry: unknown): string | undefined =>
  typeof entry === 'object' && entry !== null && 'value' in entry && typeof entry.value === 'string'
    ? entry.value
    : undefined;

export const resealSettings: Reseal = async ({ store, sealer }) => {
  let [resealed, unreadable] = [0, 0];
  await update(store.collection(settings), SETTINGS_ID, (record) => {
    [resealed, unreadable] = [0, 0];
    const values = { ...record.values };
    for (const [key, entry] of Object.entries(record.values)) {
      const sealed = sealedIn(entry);
      if (!isSettingKey(key) || !isSecretSetting(key) || sealed === undefined) continue;
      try {
        const again = resealText(sealer, purposeOf(key), sealed);
        if (again === sealed) continue;
        values[key] = { ...Object(entry), value: again };
        resealed += 1;
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        unreadable += 1;
      }
    }
    return resealed === 0 ? undefined : { value: { ...record, values } };
  });
  return { resealed, unreadable };
};
