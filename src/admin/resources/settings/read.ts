// The settings that other pages need.
import type { AdminContext } from '../../pages/page.ts';
import { type SettingView, settings } from './resource.ts';

/** @returns the setting of a key */
export async function readSettings(context: AdminContext): Promise<(key: string) => SettingView | undefined> {
  const { items } = (await context.call(settings.read, {})).data;
  return (wanted) => items.find(({ key }) => key === wanted);
}
