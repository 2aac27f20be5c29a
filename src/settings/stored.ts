// How settings are stored: only those that differ from their default, secrets sealed.

import { isSecretSetting, type SettingKey, settingRow } from '../model/settings/settings.ts';
import { hasChangedDefault } from './former-defaults.ts';
import type { OpenSecret, StoredEntry } from './parse.ts';

/** The part of keys/sealing.ts that is needed here. */
export interface SettingSealer {
  seal(purpose: string, text: string): string;
  /** Throws when it cannot be opened. */
  open(purpose: string, sealed: string): string;
}

type SealSecret = (key: SettingKey, text: string) => string;

/** The sealing purpose of a secret setting. */
export const purposeOf = (key: SettingKey): string => `setting ${key}`;

export function createSecrets(sealer: SettingSealer): {
  readonly seal: SealSecret;
  readonly open: OpenSecret;
} {
  return {
    seal: (key, text) => sealer.seal(purposeOf(key), text),
    open(key, sealed) {
      try {
        return sealer.open(purposeOf(key), sealed);
      } catch {
        // Reported with the other unusable stored values.
        return undefined;
      }
    },
  };
}

/** @param left entries to keep unchanged */
export function toStore(
  entries: ReadonlyMap<SettingKey, StoredEntry>,
  left: readonly [string, unknown][],
  seal: SealSecret,
): Record<string, unknown> {
  const own = Array.from(entries)
    .filter(([key, { value }]) => value !== settingRow(key).absent || hasChangedDefault(key))
    .map(([key, entry]): [string, unknown] => [
      key,
      isSecretSetting(key) ? { ...entry, value: seal(key, String(entry.value)) } : entry,
    ]);
  return Object.fromEntries([...left, ...own]);
}
