// The page of a list: search, filters and sorting come from the declaration of the list's route, and every state is in the
// address (list-links.ts). `listPage` draws the columns that it is given; `drawnList` leaves them to a template of their own,
// which extends templates/admin/list.njk.

import type { PageText } from '../../phrase.ts';
import type { ListHandle } from '../api/resource-acts.ts';
import { columnChoice, keepColumns } from './list-columns.ts';
import { type Choice, listLinks } from './list-links.ts';
import { type AdminContext, type Crumb, get, type Page } from './page.ts';
import type { Part } from './parts.ts';

/**
 * Unless the address has another number: pages are not compressed, since they hold secrets (BREACH), and 25 people with long names
 * are what 60 kB have room for in Arabic. The API's own default is another.
 */
export const ROWS = '25';

interface Column<Row> {
  readonly label: string;
  /** A sort of the route: makes the heading a link. */
  readonly sort?: string;
  /** `wide`: hidden on narrow screens. */
  readonly look?: 'wide' | 'number';
  readonly cell: (row: Row) => readonly Part[];
}

interface Common<Item> {
  /** Below /admin. */
  readonly path: string;
  readonly title: string;
  /** Current entry of the navigation. */
  readonly here: string;
  readonly crumbs?: readonly Crumb[];
  readonly list: ListHandle<Item>;
  readonly chips?: readonly Choice[] | ((context: AdminContext) => readonly Choice[]);
  /** The filters that are no chip, in words (list-links.ts). */
  readonly wordsOf?: (
    context: AdminContext,
  ) => Promise<(name: string, value: string) => PageText | undefined>;
}

interface Drawn<Item> extends Common<Item> {
  /** Below templates/admin. */
  readonly template: string;
  readonly needs?: 'admin';
  /** Converts what the page's form submits into what the route takes. */
  readonly asked?: (query: URLSearchParams) => URLSearchParams;
  /** What else the template shows; `rows` instead of the items. */
  readonly more?: (context: AdminContext, items: readonly Item[]) => Promise<object>;
}

export const drawnList = <Item>(options: Drawn<Item>): Page => {
  const { template, needs, asked, more, chips = [], wordsOf, list, ...shown } = options;
  const { path } = shown;
  return get(
    path,
    async (context) => {
      const { query } = context;
      if (keepColumns(context, path)) return;
      const wanted = new URLSearchParams({ limit: ROWS });
      for (const [name, value] of asked?.(query) ?? query) wanted.set(name, value);
      const { data } = await context.call(list, { query: wanted });
      context.show(template, {
        ...shown,
        list: listLinks(context, list, data, {
          chips: typeof chips === 'function' ? chips(context) : chips,
          ...(wordsOf && { wordsOf: await wordsOf(context) }),
        }),
        rows: data.items,
        choice: columnChoice(context, path),
        /** Of its CSV file (exports.ts). */
        exportPath: list.csv.length > 0 ? [`${path}/export`, query].filter(String).join('?') : undefined,
        ...(await more?.(context, data.items)),
      });
    },
    needs && { needs },
  );
};

interface Options<Item, Row> extends Common<Item> {
  /** The row models for the columns, with any additional data they need. */
  readonly rowsOf: (context: AdminContext, items: readonly Item[]) => Promise<readonly Row[]>;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly search: string;
  /** What one row is, and what several are: "1–50 of 120 keys". */
  readonly noun: readonly [one: string, many: string];
  /** The "create" button at the top, for administrators. */
  readonly add?: { readonly path: string; readonly label: string };
  /** Tabs to related pages. */
  readonly tabs?: { readonly label: string; readonly items: readonly (readonly string[])[] };
  readonly lead?: (context: AdminContext) => readonly Part[];
  readonly footnote?: readonly Part[];
  /** Shown when there are no items at all. */
  readonly empty: { readonly icon: string; readonly title: string; readonly text: string };
}

export function listPage<Item, Row>({ rowsOf, columns, lead, empty, ...options }: Options<Item, Row>): Page {
  return drawnList({
    ...options,
    template: 'list',
    async more(context, items) {
      const rows = await rowsOf(context, items);
      const isForOthers = options.add !== undefined && !context.canChange;
      return {
        lead: lead?.(context),
        columns,
        rows: rows.map((row) => columns.map(({ cell, look = '' }) => ({ parts: cell(row), look }))),
        nothing: { ...empty, text: isForOthers ? 'Administrators create them.' : empty.text },
      };
    },
  });
}
