// The page of a list, from its columns. Search, filters and sorting are what the list's route declares, and every state of
// it is an address (list-links.ts). templates/admin/list.njk draws it.
import type { ListPage } from '../api/list.ts';
import type { Handle } from '../api/route.ts';
import { type Choice, listLinks } from './list-links.ts';
import type { AdminContext, Page } from './page.ts';
import type { Part } from './parts.ts';

interface Column<Row> {
  readonly label: string;
  /** A sort of the route: the heading becomes a link. */
  readonly sort?: string;
  /** `wide`: left out where there is little room. */
  readonly look?: 'wide' | 'number';
  readonly cell: (row: Row) => readonly Part[];
}

interface Options<Item, Row> {
  /** Below /admin. */
  readonly path: string;
  readonly title: string;
  /** Which entry of the navigation is lit. */
  readonly here: string;
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[];
  readonly list: Handle<object, object, unknown, ListPage<Item>> & {
    readonly sort: string;
    readonly order: 'asc' | 'desc';
  };
  /** What the columns show, with what else has to be read for it. */
  readonly rowsOf: (context: AdminContext, items: readonly Item[]) => Promise<readonly Row[]>;
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[];
  readonly search: string;
  readonly chips?: readonly Choice[];
  /** What the rows are, for "1–50 of 120 keys". */
  readonly noun: string;
  /** The button on top, for administrators. */
  readonly add?: { readonly path: string; readonly label: string };
  /** Pages beside this one. */
  readonly tabs?: { readonly label: string; readonly items: readonly (readonly string[])[] };
  readonly lead?: (context: AdminContext) => readonly Part[];
  readonly footnote?: readonly Part[];
  /** Where there are no items at all. */
  readonly empty: { readonly icon: string; readonly title: string; readonly text: string };
}

export function listPage<Item, Row>(options: Options<Item, Row>): Page {
  const { path, list, rowsOf, columns, chips = [], lead, empty, ...shown } = options;
  return {
    method: 'GET',
    path,
    async handle(context) {
      const { query, ctx } = context;
      const { data } = await context.call(list, { query });
      const rows = await rowsOf(context, data.items);
      const isForOthers = options.add !== undefined && !context.canChange;
      context.show('list', {
        ...shown,
        path,
        list: listLinks({
          path: ctx.path,
          query,
          page: data,
          defaultSort: list.sort,
          defaultOrder: list.order,
          chips,
        }),
        lead: lead?.(context),
        columns,
        rows: rows.map((row) => columns.map(({ cell, look = '' }) => ({ parts: cell(row), look }))),
        nothing: { ...empty, text: isForOthers ? 'Administrators create them.' : empty.text },
      });
    },
  };
}
