import type { SettingKey, SettingValues } from '../model/settings/settings.ts';

type NumberKey = { [Key in SettingKey]: SettingValues[Key] extends number ? Key : never }[SettingKey];

/** Values that are valid one by one but contradict each other; both are named, because either can be changed. */
export function combinationProblems(values: SettingValues): Partial<Record<SettingKey, string>> {
  const problems: Partial<Record<SettingKey, string>> = {};
  const notLonger = (shorter: NumberKey, longer: NumberKey): void => {
    if (values[shorter] <= values[longer]) return;
    problems[shorter] = `Must not be more than ${longer}.`;
    problems[longer] = `Must not be less than ${shorter}.`;
  };
  notLonger('refresh_token_idle_seconds', 'refresh_token_absolute_seconds');
  notLonger('session_idle_seconds', 'session_absolute_seconds');
  return problems;
}
