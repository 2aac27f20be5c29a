// Links of a list page: every state (search, filters, sorting, position) is in the address, so that links, the back
// button and bookmarks work without a script.
import type { ListPage } from '../api/list.ts';

export interface Choice {
  readonly label: string;
  /** The query parameters to set; null removes a parameter. */
  readonly set: Readonly<Record<string, string | null>>;
}

interface Options {
  /** Path of the list, without the path of BASE_URL (templates prepend it: `base`). */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The page as the API returns it. */
  readonly page: { readonly [Name in keyof ListPage<unknown>]?: unknown };
  readonly defaultSort: string;
  /** The API's default order. */
  readonly defaultOrder?: 'asc' | 'desc';
  readonly chips?: readonly Choice[];
}

const other = (order: string): string => (order === 'asc' ? 'desc' : 'asc');

const isOn = (query: URLSearchParams, { set }: Choice): boolean =>
  Object.entries(set).every(([name, value]) => query.get(name) === value);

export function listLinks({ path, query, page, defaultSort, defaultOrder = 'desc', chips = [] }: Options) {
  const items: readonly unknown[] = Array.isArray(page.items) ? page.items : [];
  const [total, offset, limit] = [Number(page.total), Number(page.offset), Number(page.limit)];
  /** The same list with changed parameters, from its first page. */
  const href = (changes: Readonly<Record<string, string | null>>): string => {
    const next = new URLSearchParams(query);
    next.delete('cursor');
    next.delete('offset');
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    const text = next.toString();
    return text === '' ? path : `${path}?${text}`;
  };
  const sort = query.get('sort') ?? defaultSort;
  const order = query.get('order') ?? defaultOrder;
  const back = Math.max(0, offset - limit);
  return {
    path,
    items,
    total,
    first: items.length === 0 ? 0 : offset + 1,
    last: offset + items.length,
    nextHref: typeof page.next === 'string' ? href({ cursor: page.next }) : undefined,
    previousHref: offset > 0 ? href(back > 0 ? { offset: String(back) } : {}) : undefined,
    search: query.get('search') ?? '',
    isFiltered: [...query.keys()].some((name) => !['sort', 'order', 'cursor', 'offset'].includes(name)),
    clearHref: path,
    /** Hidden fields of the search form: the other parameters of the address. */
    kept: [...query].filter(([name]) => !['search', 'cursor', 'offset'].includes(name)),
    chips: chips.map((chip) => {
      const isChosen = isOn(query, chip);
      const off = Object.fromEntries(Object.keys(chip.set).map((name) => [name, null]));
      return { label: chip.label, isChosen, href: href(isChosen ? off : chip.set) };
    }),
    value: (name: string): string => query.get(name) ?? '',
    sortOf: (name: string): string =>
      name === sort ? (order === 'asc' ? 'ascending' : 'descending') : 'none',
    sortHref: (name: string): string =>
      href({ sort: name, order: name === sort ? other(order) : defaultOrder }),
  };
}
