// A table of users as people have it in a spreadsheet: read (RFC 4180, with commas, semicolons or tabs), its columns matched with
// the fields of an import, and each row as the line of JSON that the import takes.
import { type AppError, invalid } from '../../../errors.ts';
import { flag } from '../../../model/kinds.ts';
import type { Row } from '../../../model/row.ts';
import type { UserFacts } from '../../../model/users/facts.ts';
import { importedRows } from '../../../model/users/imported-rows.ts';
import { userRows } from '../../../model/users/rows.ts';
import { unguarded } from '../../pages/exports.ts';
import type { Values } from '../../pages/page.ts';
import type { Table } from '../../pages/user-imports.ts';

export const MAX_ROWS = 20_000;
const MAX_COLUMNS = 100;

const refuse = (message: string): AppError => invalid({ rows: message });

/** So much of the first line says what separates its cells. */
const HEADING_CHARACTERS = 10_000;

/** The separator that the first line has most of. */
function separatorOf(text: string): string {
  const [first = ''] = text.slice(0, HEADING_CHARACTERS).split(/\r?\n/, 1);
  const counted = [',', ';', '\t'].map((mark) => ({ mark, count: first.split(mark).length }));
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).mark;
}

/** Reads one cell that begins with a quote, at `at`. @returns its text, and where the next character is */
function quotedCell(text: string, at: number): { readonly cell: string; readonly next: number } {
  let cell = '';
  let from = at + 1;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end === -1) throw refuse('A quote is opened and never closed.');
    cell += text.slice(from, end);
    if (text[end + 1] !== '"') return { cell, next: end + 1 };
    cell += '"';
    from = end + 2;
  }
}

/** Every character is looked at once. @throws AppError request.invalid naming `rows` */
export function readTable(given: string): Table {
  const text = given.replace(/^\ufeff/, '');
  const separator = separatorOf(text);
  const rows: string[][] = [];
  const numbers: number[] = [];
  let number = 0;
  let row: string[] = [];
  const endRow = (): void => {
    number += 1;
    if (row.some((cell) => cell !== '')) {
      rows.push(row);
      numbers.push(number);
    }
    if (rows.length > MAX_ROWS + 1) throw refuse(`A file has at most ${MAX_ROWS} rows.`);
    row = [];
  };
  for (let at = 0; at <= text.length; ) {
    let cell: string;
    while (text[at] === ' ') at += 1;
    if (text[at] === '"') {
      ({ cell, next: at } = quotedCell(text, at));
      while (text[at] === ' ' || text[at] === '\r') at += 1;
      // Whatever it was meant to be: the cells behind it would be in columns that are not theirs.
      if (at < text.length && text[at] !== separator && text[at] !== '\n')
        throw refuse(`Row ${number + 1} has text after a closing quote.`);
    } else {
      let end = at;
      while (end < text.length && text[end] !== separator && text[end] !== '\n') end += 1;
      cell = text.slice(at, end).trim();
      at = end;
    }
    row.push(cell);
    if (row.length > MAX_COLUMNS) throw refuse(`A row has at most ${MAX_COLUMNS} columns.`);
    while (text[at] === '\r') at += 1;
    if (at >= text.length || text[at] === '\n') endRow();
    at += 1;
  }
  const [header, ...rest] = rows;
  if (header === undefined || rest.length === 0)
    throw refuse('The first line names the columns; at least one line with a user follows.');
  return { header, rows: rest, numbers: numbers.slice(1) };
}

const plain = (heading: string): string => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** What a column can be, with the headings by which it is recognised. */
export const columns = Object.entries<Row<unknown> & UserFacts>({ ...userRows, ...importedRows }).flatMap(
  ([name, { column, label, kind }]) =>
    column === null
      ? []
      : [{ name, kind, label: column.label ?? label, known: [plain(name), ...column.known.split(' ')] }],
);

/** @returns for each column of the table the field it seems to be, or '' ; each field once */
export function guessMapping(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((heading) => {
    const found = columns.find(({ name, known }) => !taken.has(name) && known.includes(plain(heading)));
    if (found === undefined) return '';
    taken.add(found.name);
    return found.name;
  });
}

const isYes = (cell: string): boolean | string => {
  const word = cell.toLowerCase();
  if (['yes', 'true', '1', 'y', 'x', 'on'].includes(word)) return true;
  return ['no', 'false', '0', 'n', 'off'].includes(word) ? false : cell;
};

function cellValue(name: string, cell: string): unknown {
  const kind = columns.find((column) => column.name === name)?.kind;
  if (name === 'groups') return cell.split(/[;,|\s]+/).filter(Boolean);
  return kind === flag ? isYes(cell) : cell;
}

/** What a row says of a user, as the import takes it; an empty cell says nothing. */
export function userOf(row: readonly string[], mapping: readonly string[]): Values {
  const user: Record<string, unknown> = {};
  for (const [at, name] of mapping.entries()) {
    const cell = unguarded(row[at] ?? '').trim();
    if (name !== '' && cell !== '') user[name] = cellValue(name, cell);
  }
  return 'username' in user || !('email' in user) ? user : { username: user.email, ...user };
}

/** The columns that a list of refused rows leaves out. */
export const isSecret = (name: string | undefined): boolean => name === 'password_hash';
