// Owns reading a copy of the database as a thief does: every row of every table, without our code.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestApp } from '../support/app.ts';

/** Table name -> its rows, each cell as text. */
export function dumpStore({ dataDir }: Pick<TestApp, 'dataDir'>): Map<string, string[][]> {
  const database = new DatabaseSync(join(dataDir, 'latchkey.db'), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return new Map(
      tables.map(({ name }) => {
        const reading = database.prepare(`SELECT * FROM "${name}"`);
        // What SQLite keeps for itself holds numbers that are none in JavaScript.
        reading.setReadBigInts(true);
        const rows = reading.all();
        const cells = rows.map((row) => Object.values(row).map(textOf));
        return [String(name), cells];
      }),
    );
  } finally {
    database.close();
  }
}

const textOf = (cell: unknown): string =>
  ArrayBuffer.isView(cell)
    ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('utf8')
    : String(cell);

/** Every text in a dump: cells, and whatever stands in them as JSON, names included, down to the last leaf. */
export function textsIn(dump: ReadonlyMap<string, readonly (readonly string[])[]>): Set<string> {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (texts.has(value)) return;
      texts.add(value);
      if (/^[[{"]/.test(value)) visit(parsed(value));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        texts.add(name);
        visit(item);
      }
    }
  };
  for (const rows of dump.values()) for (const row of rows) for (const cell of row) visit(cell);
  return texts;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
