// The page of a list, defined by its columns. Search, filters and sorting come from the declaration of the list's route, and
// every state is in the address (list-links.ts). Rendered by templates/admin/list.njk.
import type { ListHandle } from '../api/resource-acts.ts';
import { type Choice, listLinks } from './list-links.ts';
import type { AdminContext, Page } from './page.ts';
import type { Part } from './parts.ts';

interface Column<Row> {
  readonly label: string;
  /** A sort of the route: makes the heading a link. */
  readonly sort?: string;
  /** `wide`: hidden on narrow screens. */
  readonly look?: 'wide' | 'number';
  readonly cell: (row: Row) => readonly Part[];
}

interface Options<Item, Row> {
  /** Below /admin. */
  readonly path: string;
  readonly title: string;
  /** Current entry of the navigation. */
  readonly here: string;
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[];
  readonly list: ListHandle<Item>;
  /** The row models for the columns, with any additional data they need. */
  readonly rowsOf: (context: AdminContext, items: readonly Item[]) => Promise<readonly Row[]>;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly search: string;
  readonly chips?: readonly Choice[];
  /** Plural noun of the rows, for "1–50 of 120 keys". */
  readonly noun: string;
  /** The "create" button at the top, for administrators. */
  readonly add?: { readonly path: string; readonly label: string };
  /** Tabs to related pages. */
  readonly tabs?: { readonly label: string; readonly items: readonly (readonly string[])[] };
  readonly lead?: (context: AdminContext) => readonly Part[];
  readonly footnote?: readonly Part[];
  /** Shown when there are no items at all. */
  readonly empty: { readonly icon: string; readonly title: string; readonly text: string };
}

export function listPage<Item, Row>(options: Options<Item, Row>): Page {
  const { path, list, rowsOf, columns, chips = [], lead, empty, ...shown } = options;
  return {
    method: 'GET',
    path,
    async handle(context) {
      const { query } = context;
      const { data } = await context.call(list, { query });
      const rows = await rowsOf(context, data.items);
      const isForOthers = options.add !== undefined && !context.canChange;
      context.show('list', {
        ...shown,
        path,
        list: listLinks(context, list, data, { chips }),
        lead: lead?.(context),
        columns,
        rows: rows.map((row) => columns.map(({ cell, look = '' }) => ({ parts: cell(row), look }))),
        nothing: { ...empty, text: isForOthers ? 'Administrators create them.' : empty.text },
      });
    },
  };
}
