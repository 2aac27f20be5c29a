// Owns reading values against the schema: strictly for what somebody wants to set, leniently for what is stored.
import { AppError } from '../errors.ts';
import {
  combinationProblems,
  isSecretSetting,
  isSettingKey,
  type SettingKey,
  type SettingValues,
  settingDefinitions,
  settingKeys,
} from './schema.ts';

/** Some settings, each with a value that its definition has passed. */
export type SomeValues = ReadonlyMap<SettingKey, unknown>;

/** Who set a value, and when; stored beside it. */
export interface StoredEntry {
  readonly value: unknown;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by: string;
}

/** @returns undefined when it cannot be opened */
export type OpenSecret = (key: SettingKey, sealed: string) => string | undefined;

const defaults = (): SettingValues =>
  // Built from the list that the type is derived from: same keys, and each value is of its definition's type.
  Object.fromEntries(settingKeys.map((key) => [key, settingDefinitions[key].default])) as SettingValues;

/** @param some values that parse() or read() has checked */
export function complete(some: SomeValues): SettingValues {
  // Spread widens what was checked one by one; the keys and their types are those of the definitions.
  return Object.freeze({ ...defaults(), ...(Object.fromEntries(some) as Partial<SettingValues>) });
}

/**
 * @param typed what somebody wants to set, as it came
 * @throws AppError setting.unknown or request.invalid, naming every key that is not right
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
    const parsed = settingDefinitions[key].parse(value);
    if ('problem' in parsed) fields[key] = parsed.problem;
    else values.set(key, parsed.value);
  }
  refuse(hasUnknown ? 'setting.unknown' : 'request.invalid', fields);
  return values;
}

/** @throws AppError request.invalid when the values do not fit together */
export function refuseBadCombination(values: SettingValues): void {
  refuse('request.invalid', combinationProblems(values));
}

function refuse(code: 'setting.unknown' | 'request.invalid', fields: Readonly<Record<string, string>>): void {
  if (Object.keys(fields).length > 0) throw new AppError(code, { fields });
}

const isEntry = (entry: unknown): entry is StoredEntry =>
  typeof entry === 'object' &&
  entry !== null &&
  'value' in entry &&
  'at' in entry &&
  typeof entry.at === 'number' &&
  'by' in entry &&
  typeof entry.by === 'string';

/**
 * What a stored entry's value is, before it is checked. Secrets are in the store sealed only: one in clear was written
 * past us and does not count.
 */
function unsealed(key: SettingKey, entry: unknown, open: OpenSecret): unknown {
  if (!isEntry(entry)) return undefined;
  if (!isSecretSetting(key)) return entry.value;
  return typeof entry.value === 'string' ? open(key, entry.value) : undefined;
}

/**
 * A bad stored value (of an older release, or written by hand) never stops the service: its default holds instead
 * (checklist R132). Keys of another release stay in the store and are not looked at.
 */
export function read(
  stored: Readonly<Record<string, unknown>>,
  open: OpenSecret,
): {
  readonly values: SettingValues;
  readonly entries: ReadonlyMap<SettingKey, StoredEntry>;
  /** Secrets that cannot be opened now; they stay in the store, the missing SECRET_KEY may come back. */
  readonly unopened: ReadonlySet<string>;
  readonly problems: readonly string[];
} {
  const entries = new Map<SettingKey, StoredEntry>();
  const values = new Map<SettingKey, unknown>();
  const unopened = new Set<string>();
  const problems: string[] = [];
  for (const key of settingKeys) {
    if (!Object.hasOwn(stored, key)) continue;
    const entry = stored[key];
    const value = unsealed(key, entry, open);
    if (value === undefined && isSecretSetting(key)) {
      unopened.add(key);
      problems.push(
        `${key}: the stored secret cannot be opened with the SECRET_KEY of now, the default holds.`,
      );
      continue;
    }
    const parsed = settingDefinitions[key].parse(value);
    if ('problem' in parsed)
      problems.push(`${key}: the stored value is not right, the default holds. ${parsed.problem}`);
    else {
      values.set(key, parsed.value);
      if (isEntry(entry)) entries.set(key, { ...entry, value: parsed.value });
    }
  }
  for (const [key, problem] of Object.entries(combinationProblems(complete(values)))) {
    problems.push(`${key}: the stored values do not fit together, the default holds. ${problem}`);
    if (!isSettingKey(key)) continue;
    values.delete(key);
    entries.delete(key);
  }
  return { values: complete(values), entries, unopened, problems };
}
