// Parses values by their rows: strictly when someone sets them, leniently when they are read from the store.

import { AppError } from '../errors.ts';
import { isMembers } from '../json.ts';
import {
  isSecretSetting,
  isSettingKey,
  type SettingKey,
  type SettingValues,
  settingKeys,
  settingRow,
} from '../model/settings/settings.ts';
import { combinationProblems } from './combinations.ts';

/** Some settings, each with a validated value; undefined: the default, whichever this installation has. */
export type SomeValues = ReadonlyMap<SettingKey, unknown>;

/** Who set a value, and when; stored with it. */
export interface StoredEntry {
  readonly value: unknown;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by: string;
}

/** @returns undefined when it cannot be opened */
export type OpenSecret = (key: SettingKey, sealed: string) => string | undefined;

const defaults = (): SettingValues =>
  // Built from the list that the type is derived from: the same keys, each value of its row's type.
  Object.fromEntries(settingKeys.map((key) => [key, settingRow(key).absent])) as SettingValues;

/**
 * @param some values validated by parse() or read()
 * @param former defaults of this installation that are not those of the rows
 */
export function complete(some: SomeValues, former: SomeValues = new Map()): SettingValues {
  // Spread widens values that were validated one by one; keys and types are those of the rows.
  const given = Object.fromEntries([...former, ...some]) as Partial<SettingValues>;
  return Object.freeze({ ...defaults(), ...given });
}

/**
 * @param typed the values to set, unvalidated; null is the default
 * @throws AppError setting.unknown or request.invalid, naming every invalid key
 */
export function parse(typed: Readonly<Record<string, unknown>>): SomeValues {
  const fields: Record<string, string> = Object.create(null);
  const values = new Map<SettingKey, unknown>();
  let hasUnknown = false;
  for (const [key, value] of Object.entries(typed)) {
    if (!isSettingKey(key)) {
      hasUnknown = true;
      fields[key] = 'Unknown setting.';
      continue;
    }
    const parsed = value === null ? { value: undefined } : settingRow(key).kind.parse(value);
    if ('problem' in parsed) fields[key] = parsed.problem;
    else values.set(key, parsed.value);
  }
  refuse(hasUnknown ? 'setting.unknown' : 'request.invalid', fields);
  return values;
}

/** @throws AppError request.invalid when values contradict each other */
export function checkCombination(values: SettingValues): void {
  refuse('request.invalid', combinationProblems(values));
}

function refuse(code: 'setting.unknown' | 'request.invalid', fields: Readonly<Record<string, string>>): void {
  if (Object.keys(fields).length > 0) throw new AppError(code, { fields });
}

const isEntry = (entry: unknown): entry is StoredEntry =>
  isMembers(entry) && 'value' in entry && typeof entry.at === 'number' && typeof entry.by === 'string';

/**
 * A stored entry's value before validation. Secrets are only ever stored sealed: one in clear was not written by this
 * program and is ignored.
 */
function unsealed(key: SettingKey, entry: unknown, open: OpenSecret): unknown {
  if (!isEntry(entry)) return undefined;
  if (!isSecretSetting(key)) return entry.value;
  return typeof entry.value === 'string' ? open(key, entry.value) : undefined;
}

/**
 * An invalid stored value (of an older release, or edited by hand) never stops the service: the default applies instead.
 * Keys of other releases stay in the store and are ignored.
 */
export function read(
  stored: Readonly<Record<string, unknown>>,
  open: OpenSecret,
  former: SomeValues = new Map(),
): {
  readonly values: SettingValues;
  readonly entries: ReadonlyMap<SettingKey, StoredEntry>;
  /**
   * Stored values that don't count; they stay in the store until they are changed: a missing SECRET_KEY may be restored, and another
   * version may take what this one can't.
   */
  readonly unusable: ReadonlySet<string>;
  /** So do those that contradict each other, until one of them is changed. */
  readonly contradicting: ReadonlySet<string>;
  readonly problems: readonly string[];
} {
  const entries = new Map<SettingKey, StoredEntry>();
  const values = new Map<SettingKey, unknown>();
  const unusable = new Set<string>();
  const contradicting = new Set<string>();
  const problems: string[] = [];
  for (const key of settingKeys) {
    if (!Object.hasOwn(stored, key)) continue;
    const entry = stored[key];
    const value = unsealed(key, entry, open);
    if (value === undefined && isSecretSetting(key)) {
      unusable.add(key);
      problems.push(
        `${key}: the stored secret cannot be opened with the present SECRET_KEY, the default applies.`,
      );
      continue;
    }
    const parsed = settingRow(key).kind.parse(value);
    if ('problem' in parsed) {
      unusable.add(key);
      problems.push(`${key}: the stored value is not valid, the default applies. ${parsed.problem}`);
    } else {
      values.set(key, parsed.value);
      if (isEntry(entry)) entries.set(key, { ...entry, value: parsed.value });
    }
  }
  for (const [key, problem] of Object.entries(combinationProblems(complete(values, former)))) {
    problems.push(`${key}: the stored values contradict each other, the default applies. ${problem}`);
    if (!isSettingKey(key)) continue;
    if (values.has(key)) contradicting.add(key);
    values.delete(key);
    entries.delete(key);
  }
  return { values: complete(values, former), entries, unusable, contradicting, problems };
}
