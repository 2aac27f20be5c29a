// Owns choosing groups on other pages: which there are to choose from, as far as a person can look through them.
import { itemsOf, textOf } from './field-values.ts';
import type { AdminContext, Values } from './page.ts';

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

export const groupLabel = (group: Values): string => textOf(group, 'display_name') || textOf(group, 'name');

export async function groupChoices(context: AdminContext): Promise<GroupChoices> {
  const { data } = await context.callByName('GET /groups', { query: { limit: String(MOST) } });
  const items = itemsOf(data).map((group) => ({ name: textOf(group, 'name'), label: groupLabel(group) }));
  return { items, isWhole: Number(data.total) <= MOST };
}
