// Every row of every table in src/model, found by its shape, so that no list of tables has to be kept.
import { readdirSync } from 'node:fs';
import { isMembers } from '../src/json.ts';
import type { Row } from '../src/model/row.ts';

/** What the rows of all resources share; those of settings have no place of their own. */
export type AnyRow = Omit<Row<unknown>, 'stored'> & Partial<Pick<Row<unknown>, 'stored'>>;

export interface ModelRow {
  /** As JSON has it. */
  readonly name: string;
  /** Relative to the project. */
  readonly file: string;
  readonly row: AnyRow;
}

const isRow = (value: unknown): value is AnyRow =>
  isMembers(value) &&
  typeof value.label === 'string' &&
  isMembers(value.kind) &&
  typeof value.kind.parse === 'function';

const isTable = (value: unknown): value is Readonly<Record<string, AnyRow>> =>
  isMembers(value) && Object.keys(value).length > 0 && Object.values(value).every(isRow);

const folder = new URL('../src/model/', import.meta.url);

async function rowsOfFile(name: string): Promise<ModelRow[]> {
  const loaded: Readonly<Record<string, unknown>> = await import(new URL(name, folder).href);
  return Object.values(loaded)
    .filter(isTable)
    .flatMap((table) =>
      Object.entries(table).map(([named, row]) => ({ name: named, file: `src/model/${name}`, row })),
    );
}

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'));
const found = (await Promise.all(files.map(rowsOfFile))).flat();

/** Each once, in the file whose table has the fewest others beside it: a list of all may spread those of its groups. */
export const modelRows: readonly ModelRow[] = found.filter(
  ({ row, file }) =>
    !found.some(
      (other) =>
        other.row === row &&
        other.file !== file &&
        found.filter((one) => one.file === other.file).length <
          found.filter((one) => one.file === file).length,
    ),
);
