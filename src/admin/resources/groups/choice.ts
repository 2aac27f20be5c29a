// Choosing groups on other pages: which there are to choose from, as far as a person can look through them.
import type { AdminContext } from '../../pages/page.ts';
import { groups } from './resource.ts';

export interface GroupChoice {
  readonly name: string;
  /** How people call it. */
  readonly label: string;
}

export interface GroupChoices {
  readonly items: readonly GroupChoice[];
  /** Whether these are all; where not, a name has to be typed. */
  readonly isWhole: boolean;
}

/** More than this nobody looks through. */
const MOST = 100;

export const groupLabel = (group: { readonly name: string; readonly display_name: string | null }): string =>
  group.display_name || group.name;

export async function groupChoices(context: AdminContext): Promise<GroupChoices> {
  const { data } = await context.call(groups.list, { query: { limit: String(MOST) } });
  const items = data.items.map((group) => ({ name: group.name, label: groupLabel(group) }));
  return { items, isWhole: data.total <= MOST };
}
