// Lists as files: CSV (RFC 4180) with the columns that the list's declaration names, or JSON lines as the API has the items; with
// the search and filters of the list, all of its pages, streamed.

import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { AppError, invalid } from '../../errors.ts';
import type { EventName } from '../../events/index.ts';
import { isMembers, memberOf } from '../../json.ts';
import type { ListPage } from '../api/list.ts';
import type { ListHandle } from '../api/resource-acts.ts';
import { type AdminContext, get, type Page } from './page.ts';

const PAGE = '1000';

/** Characters that spreadsheets read as the start of a formula, including their full-width forms. */
const FORMULA = /^[\s=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/;

/**
 * The same behind what separates cells where the decimal sign is a comma, and behind a line's end: what we quote is not quoted for a
 * spreadsheet that does not separate at our commas.
 */
const INNER_FORMULA = /([;\t\r\n])(?=(?:"|(?![\t\r\n])\s)*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%])/g;

/** Forces cells to text: users choose their names, and a formula could exfiltrate the sheet (CSV injection). */
function harmless(text: string) {
  const inside = text.replace(INNER_FORMULA, "$1'");
  return FORMULA.test(text) ? { value: `'${inside}`, quoted: true } : inside;
}

/** As it was before. */
export const unguarded = (cell: string): string =>
  cell
    .replace(/^'(?=[\s=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%])/, '')
    .replace(/([;\t\r\n])'(?=(?:"|(?![\t\r\n])\s)*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%])/g, '$1');

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  return isMembers(value) ? JSON.stringify(value) : String(value ?? '');
}

export const csvOf = (rows: readonly (readonly unknown[])[]): string =>
  stringify(
    rows.map((row) => row.map(textOf)),
    { cast: { string: harmless }, quoted_match: /[\r\n;\t]/, record_delimiter: 'windows' },
  );

interface Format {
  readonly type: string;
  readonly head: (columns: readonly string[]) => string;
  readonly lines: (items: readonly object[], columns: readonly string[]) => string;
}

const formats: Readonly<Record<string, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: (columns) => csvOf([columns]),
    lines: (items, columns) => csvOf(items.map((item) => columns.map((name) => memberOf(item, name)))),
  },
  jsonl: {
    type: 'application/jsonl; charset=utf-8',
    head: () => '',
    lines: (items) => items.map((item) => `${JSON.stringify(item)}\n`).join(''),
  },
};

async function* linesFrom<Item extends object>(
  context: AdminContext,
  list: ListHandle<Item>,
  query: URLSearchParams,
  first: ListPage<Item>,
  format: Format,
): AsyncGenerator<string> {
  const columns = list.csv.map(String);
  yield format.head(columns);
  for (let page = first; ; ) {
    yield format.lines(page.items, columns);
    if (page.next === null) return;
    query.set('cursor', page.next);
    page = (await context.call(list, { query })).data;
  }
}

interface Options {
  /** What the act is recorded as, with the filters, before the first line is sent. */
  readonly event: EventName;
  /** Converts what the page's form submits into what the route takes. */
  readonly asked?: (query: URLSearchParams) => URLSearchParams;
  /** More rows than this are refused; default: any number. */
  readonly most?: number;
}

/** @returns the page at the list's path, plus `/export`; its query parameter `format` is csv (default) or jsonl */
export const exportPage = <Item extends object>(
  list: ListHandle<Item>,
  { event, asked = (query) => query, most = Number.POSITIVE_INFINITY }: Options,
): Page =>
  get(
    `${list.path}/export`,
    async (context) => {
      const { ctx } = context;
      const query = new URLSearchParams(asked(context.query));
      const name = query.get('format') ?? 'csv';
      const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
      if (format === undefined) {
        throw invalid({ format: 'Must be csv or jsonl.' });
      }
      for (const own of ['cursor', 'offset', 'format']) query.delete(own);
      const filters = Object.fromEntries(query);
      // The size of one read; the file includes all pages.
      if (!query.has('limit')) query.set('limit', PAGE);
      // Before the response starts: an API error becomes an error page, not a truncated file.
      const { data: first } = await context.call(list, { query });
      if (first.total > most) {
        const message = `These are ${first.total} rows, and a file has at most ${most}: narrow the filters, for example the time.`;
        throw new AppError('request.invalid', { message });
      }
      await context.record({ event, details: { format: name, rows: first.total, filters } });
      const day = new Date(context.now).toISOString().slice(0, 10);
      ctx.type = format.type;
      ctx.set('Content-Disposition', `attachment; filename="${list.path.slice(1)}-${day}.${name}"`);
      ctx.body = Readable.from(linesFrom(context, list, query, first, format));
    },
    {
      // Everyone's data at once: not for whoever finds a screen unlocked.
      isSensitive: true,
    },
  );
