import type { AdminContext } from '../../pages/page.ts';
import { settings } from './resource.ts';

/** Whether the setting `legacy_profiles` is on, without which pages say nothing of the legacy profile. */
export async function hasLegacyProfiles(context: AdminContext): Promise<boolean> {
  const { data } = await context.call(settings.read, {});
  return data.items.some(({ key, value }) => key === 'legacy_profiles' && value === true);
}
