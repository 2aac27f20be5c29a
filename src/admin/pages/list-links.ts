// Links of a list page: every state (search, filters, sorting, position) is in the address, so that links, the back
// button and bookmarks work without a script.

import { type PageText, Phrase, phrase } from '../../phrase.ts';
import type { ListPage } from '../api/list.ts';
import type { ListHandle } from '../api/resource-acts.ts';
import type { AdminContext } from './page.ts';

export interface Choice {
  readonly label: string;
  /** The query parameters to set; null removes a parameter. */
  readonly set: Readonly<Record<string, string | null>>;
}

interface Options {
  /** Path of the list, without the path of BASE_URL (templates prepend it: `base`). Default: that of the request. */
  readonly path?: string;
  /** Default: that of the request. */
  readonly query?: URLSearchParams;
  readonly chips?: readonly Choice[];
  /** A filter of the address in words; undefined: as it is written there. */
  readonly wordsOf?: (name: string, value: string) => PageText | undefined;
}

/** What the address has besides filters. */
const NO_FILTERS: ReadonlySet<string> = new Set(['sort', 'order', 'cursor', 'offset', 'limit', 'search']);

/** Filters that links lead to, of every list. */
const COMMON: Readonly<Record<string, (value: string) => PageText>> = {
  user_id: (value) => phrase`User: ${value}`,
  client_id: (value) => phrase`Application: ${value}`,
  resource: (value) => phrase`For the API ${value}`,
};

const other = (order: string): string => (order === 'asc' ? 'desc' : 'asc');

const isOn = (query: URLSearchParams, { set }: Choice): boolean =>
  Object.entries(set).every(([name, value]) => query.get(name) === value);

/** @param page as the API returns it */
export function listLinks<Item>(
  { ctx, query: asked }: Pick<AdminContext, 'ctx' | 'query'>,
  list: Pick<ListHandle<Item>, 'sort' | 'order'>,
  { items, total, offset, limit, next }: ListPage<Item>,
  { path = ctx.path, query = asked, chips = [], wordsOf }: Options = {},
) {
  /** The same list with changed parameters, from its first page. */
  const href = (changes: Readonly<Record<string, string | null>>): string => {
    const wanted = new URLSearchParams(query);
    wanted.delete('cursor');
    wanted.delete('offset');
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) wanted.delete(name);
      else wanted.set(name, value);
    }
    const text = wanted.toString();
    return text === '' ? path : `${path}?${text}`;
  };
  const sort = query.get('sort') ?? list.sort;
  const order = query.get('order') ?? list.order;
  const back = Math.max(0, offset - limit);
  const chosen = new Set(chips.filter((chip) => isOn(query, chip)).flatMap(({ set }) => Object.keys(set)));
  const others = [...query].filter(([name]) => !NO_FILTERS.has(name) && !chosen.has(name));
  return {
    path,
    items,
    total,
    first: items.length === 0 ? 0 : offset + 1,
    last: offset + items.length,
    nextHref: next === null ? undefined : href({ cursor: next }),
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
    /** The filters of the address that are no chip: each in words, with a link that removes it. */
    others: others.map(([name, value]) => ({
      label:
        wordsOf?.(name, value) ??
        COMMON[name]?.(value) ??
        new Phrase([`${name.replaceAll('_', ' ')}: `, ''], [value]),
      href: href({ [name]: null }),
    })),
    value: (name: string): string => query.get(name) ?? '',
    sortOf: (name: string): string =>
      name === sort ? (order === 'asc' ? 'ascending' : 'descending') : 'none',
    sortHref: (name: string): string =>
      href({ sort: name, order: name === sort ? other(order) : list.order }),
  };
}
