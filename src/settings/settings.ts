// The runtime settings of this process: the current values, and changing them for all processes. One document holds them
// all, so that no reader sees half of a change; compare-and-set protects parallel changes.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  isSecretSetting,
  isSettingKey,
  type SettingKey,
  type SettingType,
  type SettingValue,
  type SettingValues,
  settingFacts,
  settingKeys,
  settingRow,
} from '../model/settings/settings.ts';
import { STORE_MODEL } from '../model/store-model.ts';
import type { SettingsRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { formerDefaults } from './former-defaults.ts';
import { checkCombination, complete, parse, read, type SomeValues, type StoredEntry } from './parse.ts';
import { createSecrets, type SettingSealer, toStore } from './stored.ts';

/** The document that holds all settings. */
export const SETTINGS_ID = 'current';

/** With wire names, as the API returns it. */
export interface SettingDescription {
  readonly key: SettingKey;
  /** null for a secret, which is write-only. */
  readonly value: SettingValue | null;
  readonly default: SettingValue;
  readonly type: SettingType;
  readonly min: number | null;
  readonly max: number | null;
  readonly description: string;
  readonly group: string;
  readonly is_secret: boolean;
  /** RFC 3339; null while the default applies. */
  readonly updated_at: string | null;
  readonly updated_by: string | null;
}

/** A change, for the audit log; secrets are not included. */
export interface SettingChange {
  readonly key: SettingKey;
  readonly from: SettingValue | null;
  readonly to: SettingValue | null;
}

export interface Settings {
  /** Frozen; the defaults before the first refresh. */
  current(): SettingValues;
  /** Call at each request: reads only if another process may have written. @throws StoreUnavailable */
  refresh(): Promise<void>;
  describe(): SettingDescription[];
  /** Stored values that could not be used, for the log and the Admin UI. */
  problems(): readonly string[];
  /**
   * Sets the given values, all or none. Null is the default; a value that holds already keeps its author and time.
   * @param actor recorded with the values
   * @throws AppError setting.unknown, request.invalid
   */
  patch(
    values: Readonly<Record<string, unknown>>,
    actor: string,
    options?: IfVersion,
  ): Promise<SettingChange[]>;
  /** Like patch, and resets all other settings to their defaults. @param options.kept the keys of others that stay */
  replaceAll(
    values: Readonly<Record<string, unknown>>,
    actor: string,
    options?: IfVersion & { readonly kept?: ReadonlySet<string> },
  ): Promise<SettingChange[]>;
  /** The changes that patch would make; nothing is written. @throws AppError as patch does */
  preview(values: Readonly<Record<string, unknown>>): Promise<SettingChange[]>;
  /** Version of all settings together, as of the last refresh; 0 while none is set. */
  version(): number;
  /** How many changes of looks there were, as of the last refresh (src/branding): no read of its own tells when to read them. */
  looks(): number;
  /** One more, for all processes. @throws StoreUnavailable */
  countLooks(): Promise<void>;
}

/** @throws AppError setting.changed when the settings have another version */
export interface IfVersion {
  readonly ifVersion?: number | undefined;
}

/**
 * @param deps.stamp of the store: a number that differs when another process may have written; undefined if unknown
 * @param deps.pollMs maximum age of the values where there is no stamp
 */
export function createSettings(deps: {
  collection: EphemeralCollection<SettingsRecord>;
  sealer: SettingSealer;
  clock: Clock;
  stamp: () => number | undefined;
  /** The model with which the installation began (src/store/mark.ts); by default this one. */
  born?: number;
  pollMs?: number;
}): Settings {
  const { collection, sealer, clock, stamp, born = STORE_MODEL, pollMs = 1000 } = deps;
  const ownDefaults = formerDefaults(born);
  const secrets = createSecrets(sealer);
  let held = read({}, secrets.open, ownDefaults);
  // The document version that `held` was read from: under load the stamp changes constantly, the settings hardly ever.
  let heldAs: {
    readonly version: number | undefined;
    readonly updatedAt: number | undefined;
    readonly looks: number;
    readonly record?: Pick<SettingsRecord, 'model'> | undefined;
  } = { version: undefined, updatedAt: undefined, looks: 0 };
  let seen: { readonly stamp: number | undefined; readonly at: number } | undefined;
  let reading: Promise<void> | undefined;
  let writes = 0;

  const readRecord = (record: SettingsRecord | undefined) =>
    read(record?.values ?? {}, secrets.open, formerDefaults(born, record));

  function isStale(): boolean {
    if (seen === undefined) return true;
    const now = stamp();
    if (now !== undefined) return now !== seen.stamp;
    return Math.abs(clock() - seen.at) >= pollMs;
  }

  async function readAgain(): Promise<void> {
    // Taken before the read: a write by another process in between makes the next call read again.
    const before = { stamp: stamp(), at: clock(), writes };
    const stored = await collection.find(SETTINGS_ID);
    // Our own writes do not show in the stamp: a read that ran beside one may be older than it.
    if (before.writes !== writes) return;
    const isSame = stored?.version === heldAs.version && stored?.value.updatedAt === heldAs.updatedAt;
    if (!isSame) held = readRecord(stored?.value);
    heldAs = {
      version: stored?.version,
      updatedAt: stored?.value.updatedAt,
      looks: stored?.value.looks ?? 0,
      record: stored && { model: stored.value.model ?? 0 },
    };
    seen = before;
  }

  async function refresh(): Promise<void> {
    // Two rounds: a read in progress may have started before the write that must be seen, the next one has not.
    for (let round = 0; round < 2 && isStale(); round += 1) {
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
      await reading;
    }
  }

  /** @param isKept whether a stored setting that is not given stays */
  async function write(
    given: SomeValues,
    isKept: (key: string) => boolean,
    actor: string,
    { ifVersion }: IfVersion = {},
  ): Promise<SettingChange[]> {
    let changes: SettingChange[] = [];
    const change = (record: SettingsRecord, version: number): SettingsRecord => {
      if (ifVersion !== undefined && ifVersion !== version) throw new AppError('setting.changed');
      const { values: before } = record;
      const was = readRecord(record);
      const entries = new Map([...was.entries].filter(([key]) => isKept(key)));
      // What the version that wrote last had by default is a value from now on.
      for (const [key, value] of formerDefaults(born, record))
        if (isKept(key) && !ownDefaults.has(key) && !entries.has(key))
          entries.set(key, { value, at: clock(), by: 'upgrade' });
      for (const [key, value] of given) {
        if (value === undefined) {
          entries.delete(key);
          continue;
        }
        const known = was.entries.get(key);
        const isSame = known !== undefined && known.value === value;
        entries.set(key, isSame ? known : { value, at: clock(), by: actor });
      }
      const is = complete(new Map(Array.from(entries, ([key, { value }]) => [key, value])), ownDefaults);
      checkCombination(is);
      changes = differences(was.values, is);
      const isSettled = Array.from(given.keys()).some((key) => was.contradicting.has(key));
      const isLeft = (key: string): boolean =>
        !isSettingKey(key) ||
        (isKept(key) && was.unusable.has(key) && !given.has(key)) ||
        (isKept(key) && was.contradicting.has(key) && !isSettled);
      const left = Object.entries(before).filter(([key]) => isLeft(key));
      const values = toStore(entries, left, secrets.seal);
      return { ...record, values, model: STORE_MODEL, updatedAt: clock(), updatedBy: actor };
    };
    await store(change);
    return changes;
  }

  async function store(change: (before: SettingsRecord, version: number) => SettingsRecord): Promise<void> {
    const changeStored = () =>
      update(collection, SETTINGS_ID, (record, { version }) => ({ value: change(record, version) }));
    if ((await changeStored()) === undefined) {
      try {
        const nothing = { values: {}, model: STORE_MODEL, updatedAt: 0, updatedBy: '' };
        await collection.insert(SETTINGS_ID, change(nothing, 0));
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        await changeStored();
      }
    }
    writes += 1;
    seen = undefined;
    await refresh();
  }

  return {
    current: () => held.values,
    refresh,
    problems: () => held.problems,
    describe: () =>
      settingKeys.map((key) =>
        describeSetting(
          key,
          { value: held.values[key], standard: ownDefaults.get(key) },
          held.entries.get(key),
        ),
      ),
    patch: async (values, actor, options) => write(parse(values), () => true, actor, options),
    async replaceAll(values, actor, { kept = new Set(), ...options } = {}) {
      return write(parse(values), (key) => kept.has(key), actor, options);
    },
    async preview(values) {
      const some = new Map<SettingKey, unknown>(Array.from(held.entries, ([key, { value }]) => [key, value]));
      for (const [key, value] of parse(values))
        if (value === undefined) some.delete(key);
        else some.set(key, value);
      const is = complete(some, formerDefaults(born, heldAs.record));
      checkCombination(is);
      return differences(held.values, is);
    },
    version: () => heldAs.version ?? 0,
    looks: () => heldAs.looks,
    countLooks: () => store((record) => ({ ...record, looks: (record.looks ?? 0) + 1, updatedAt: clock() })),
  };
}

function differences(before: SettingValues, after: SettingValues): SettingChange[] {
  const changed = settingKeys.filter((key) => before[key] !== after[key]);
  return changed.map((key) =>
    settingRow(key).reported === 'value'
      ? { key, from: before[key], to: after[key] }
      : { key, from: null, to: null },
  );
}

function describeSetting(
  key: SettingKey,
  { value, standard }: { readonly value: SettingValue; readonly standard: SettingValue | undefined },
  entry: StoredEntry | undefined,
): SettingDescription {
  const row = settingRow(key);
  const { type, min = null, max = null } = settingFacts(row);
  const byDefault = standard ?? row.absent;
  // Stored although it is the default, for a version whose default differs (former-defaults.ts): nobody set it.
  const set = entry?.value === byDefault ? undefined : entry;
  return {
    key,
    value: isSecretSetting(key) ? null : value,
    default: byDefault,
    type,
    min,
    max,
    description: row.description,
    group: row.group,
    is_secret: isSecretSetting(key),
    updated_at: set === undefined ? null : new Date(set.at).toISOString(),
    updated_by: set?.by ?? null,
  };
}
