// The groups that other pages offer for selection, as long as there are few enough to list.
import type { AdminContext } from '../../pages/page.ts';
import { groups } from './resource.ts';

/** A longer list is not usable as a selection. */
const MOST = 100;

export const groupLabel = (group: { readonly name: string; readonly display_name: string | null }): string =>
  group.display_name || group.name;

/** Where these are not all (`isWhole`), a form has a text input for names. */
export async function groupChoices(context: AdminContext) {
  const { data } = await context.call(groups.list, { query: { limit: String(MOST) } });
  const items = data.items.map((group) => ({ name: group.name, label: groupLabel(group) }));
  return { items, isWhole: data.total <= MOST };
}
