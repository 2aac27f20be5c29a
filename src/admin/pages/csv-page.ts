// A list as a CSV file (RFC 4180), with the columns that its declaration names: the same search and filters as the list, all
// of its pages.
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { ListPage } from '../api/list.ts';
import type { ListHandle } from '../api/resource-acts.ts';
import type { AdminContext, Page } from './page.ts';

const PAGE = '1000';

/** Characters that spreadsheets read as the start of a formula, including their full-width forms. */
const FORMULA = /^[\s=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/;

/** Forces cells to text: users choose their names, and a formula could exfiltrate the sheet (CSV injection). */
const harmless = (text: string) => (FORMULA.test(text) ? { value: `'${text}`, quoted: true } : text);

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : String(value ?? ''));

export const csvOf = (rows: readonly (readonly unknown[])[]): string =>
  stringify(
    rows.map((row) => row.map(textOf)),
    { cast: { string: harmless }, quoted_match: /[\r\n]/, record_delimiter: 'windows' },
  );

async function* linesFrom<Item>(
  context: AdminContext,
  list: ListHandle<Item>,
  query: URLSearchParams,
  first: ListPage<Item>,
): AsyncGenerator<string> {
  yield csvOf([list.csv]);
  for (let page = first; ; ) {
    yield csvOf(page.items.map((item) => list.csv.map((name) => item[name])));
    if (page.next === null) return;
    query.set('cursor', page.next);
    page = (await context.call(list, { query })).data;
  }
}

/** @returns the page at the list's path, plus `/export` */
export const csvPage = <Item>(list: ListHandle<Item>): Page => ({
  method: 'GET',
  path: `${list.path}/export`,
  async handle(context) {
    const { ctx } = context;
    const query = new URLSearchParams(context.query);
    for (const name of ['cursor', 'offset']) query.delete(name);
    // The size of one read; the file includes all pages.
    if (!query.has('limit')) query.set('limit', PAGE);
    // Before the response starts: an API error becomes an error page, not a truncated file.
    const { data: first } = await context.call(list, { query });
    const day = new Date(context.now).toISOString().slice(0, 10);
    ctx.type = 'text/csv; charset=utf-8';
    ctx.set('Content-Disposition', `attachment; filename="${list.path.slice(1)}-${day}.csv"`);
    ctx.body = Readable.from(linesFrom(context, list, query, first));
  },
});
