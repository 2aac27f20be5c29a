// The APIs that other pages offer for selection, as long as there are few enough to list.
import type { AdminContext } from '../../pages/page.ts';
import { apis } from './resource.ts';

/** A longer list is not usable as a selection. */
const MOST = 50;

export async function apiChoices(context: AdminContext) {
  const { data } = await context.call(apis.list, { query: { limit: String(MOST) } });
  const items = data.items.map(({ name, identifier }) => ({ label: name, value: identifier }));
  return { items, isWhole: data.total <= MOST };
}
