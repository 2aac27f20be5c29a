// The settings that other pages need.
import type { AdminContext } from '../../pages/page.ts';
import { type SettingView, settings } from './resource.ts';

/** @returns the setting of a key */
export async function readSettings(context: AdminContext): Promise<(key: string) => SettingView | undefined> {
  const { items } = (await context.call(settings.read, {})).data;
  return (wanted) => items.find(({ key }) => key === wanted);
}

/** The API does not return a secret's value, only that it was set. */
export const hasMailServer = (settingOf: (key: string) => SettingView | undefined): boolean =>
  settingOf('smtp_url')?.updated_at !== null;
