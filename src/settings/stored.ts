// Owns the form that settings rest in: only what differs from its default, secrets sealed (checklist R141).
import type { OpenSecret, StoredEntry } from './parse.ts';
import { definitionOf, isSecretSetting, type SettingKey } from './schema.ts';

/** Encryption at rest; src/keys has it. */
export interface SettingSealer {
  seal(purpose: string, text: string): string;
  /** Throws when it cannot be opened. */
  open(purpose: string, sealed: string): string;
}

type SealSecret = (key: SettingKey, text: string) => string;

/** What a setting's secret is sealed for. */
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
        // Reported among the problems, like every stored value that is of no use.
        return undefined;
      }
    },
  };
}

/** @param left what stays as it is */
export function toStore(
  entries: ReadonlyMap<SettingKey, StoredEntry>,
  left: readonly [string, unknown][],
  seal: SealSecret,
): Record<string, unknown> {
  const own = Array.from(entries)
    .filter(([key, { value }]) => value !== definitionOf(key).default)
    .map(([key, entry]): [string, unknown] => [
      key,
      isSecretSetting(key) ? { ...entry, value: seal(key, String(entry.value)) } : entry,
    ]);
  return Object.fromEntries([...left, ...own]);
}
