// The search over all settings, in whatever group.
import { settingNamed } from '../../../model/settings/settings.ts';
import type { AdminContext } from '../../pages/page.ts';
import { here, readAll, slug, written } from './groups.ts';
import { inWords, labelOf, matches, sentence } from './words.ts';

const LONGEST_SEARCH = 200;

/** All settings that contain the words; also without scripts, and with an address of its own. */
export async function showFound(context: AdminContext, text: string): Promise<void> {
  const { settings, groups } = await readAll(context);
  const searched = text.slice(0, LONGEST_SEARCH);
  const found = settings
    .filter((setting) => matches(setting, searched))
    .map((setting) => ({
      ...setting,
      label: labelOf(setting.key),
      description: sentence(setting),
      slug: slug(setting.group),
      words: setting.is_secret ? '' : inWords(setting.key, written(setting.value)),
      isDefault: setting.is_secret || setting.value === setting.default,
      isSeconds: settingNamed(setting.key)?.unit === 'seconds',
    }));
  context.show('settings-found', { title: 'Settings', here, groups, group: { slug: '' }, searched, found });
}
