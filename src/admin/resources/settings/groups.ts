// The settings as the pages show them: by group, and each value as a form's text.
import { settingGroups } from '../../../model/settings/setting.ts';
import type { AdminContext } from '../../pages/page.ts';
import { type SettingView, settings as settingsResource } from './resource.ts';

/** What the navigation marks. */
export const here = 'settings';

export const slug = (group: string): string => group.toLowerCase().replaceAll(/[^a-z]+/g, '-');

interface Group {
  readonly name: string;
  readonly slug: string;
}

export async function readAll(
  context: AdminContext,
): Promise<{ settings: readonly SettingView[]; groups: readonly Group[] }> {
  const { items: settings } = (await context.call(settingsResource.read, {})).data;
  return { settings, groups: settingGroups.map((name) => ({ name, slug: slug(name) })) };
}

/** A value as the form's text. */
export const written = (value: unknown): string =>
  value === true ? 'on' : value === false || value === null || value === undefined ? '' : String(value);
