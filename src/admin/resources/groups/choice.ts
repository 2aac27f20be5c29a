// The groups that other pages offer for selection, as long as there are few enough to list.
import type { AdminContext } from '../../pages/page.ts';
import { groups } from './resource.ts';

export interface GroupChoice {
  readonly name: string;
  /** Display name. */
  readonly label: string;
}

export interface GroupChoices {
  readonly items: readonly GroupChoice[];
  /** Whether these are all groups; otherwise the form has a text input for names. */
  readonly isWhole: boolean;
}

/** A longer list is not usable as a selection. */
const MOST = 100;

export const groupLabel = (group: { readonly name: string; readonly display_name: string | null }): string =>
  group.display_name || group.name;

export async function groupChoices(context: AdminContext): Promise<GroupChoices> {
  const { data } = await context.call(groups.list, { query: { limit: String(MOST) } });
  const items = data.items.map((group) => ({ name: group.name, label: groupLabel(group) }));
  return { items, isWhole: data.total <= MOST };
}
