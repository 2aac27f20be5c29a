// The list of users as a CSV file (RFC 4180): the same search and filters as the list, all of its pages.
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { itemsOf } from '../../pages/field-values.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';

const columns = [
  'id',
  'username',
  'email',
  'is_email_verified',
  'role',
  'is_active',
  'locked_until',
  'totp_verified',
  'passkey_count',
  'groups',
  'last_login_at',
  'created_at',
  'name',
  'given_name',
  'family_name',
  'phone_number',
  'locale',
  'zoneinfo',
] as const;

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

const rowOf = (user: Values): unknown[] => columns.map((name) => user[name]);

type Rows = Values & { readonly next?: unknown };

async function* linesFrom(
  context: AdminContext,
  query: URLSearchParams,
  first: Rows,
): AsyncGenerator<string> {
  yield csvOf([columns]);
  for (let page = first; ; ) {
    yield csvOf(itemsOf(page).map(rowOf));
    if (typeof page.next !== 'string') return;
    query.set('cursor', page.next);
    page = (await context.callByName('GET /users', { query })).data;
  }
}

async function exportUsers(context: AdminContext): Promise<void> {
  const { ctx } = context;
  const query = new URLSearchParams(context.query);
  for (const name of ['cursor', 'offset']) query.delete(name);
  // The size of one read; the file includes all pages.
  if (!query.has('limit')) query.set('limit', PAGE);
  // Before the response starts: an API error becomes an error page, not a truncated file.
  const { data: first } = await context.callByName('GET /users', { query });
  const day = new Date(context.now).toISOString().slice(0, 10);
  ctx.type = 'text/csv; charset=utf-8';
  ctx.set('Content-Disposition', `attachment; filename="users-${day}.csv"`);
  ctx.body = Readable.from(linesFrom(context, query, first));
}

export const userExportPages: readonly Page[] = [
  { method: 'GET', path: '/users/export', handle: exportUsers },
];
