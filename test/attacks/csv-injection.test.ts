// Formulas in what people and applications name themselves, run by the spreadsheet of an administrator who opens an export. Not
// only at the start of a cell: where a spreadsheet separates cells by semicolons or tabs, as it does in half of Europe, one cell of
// ours is several.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOf } from '../../src/admin/pages/exports.ts';
import { readTable, userOf } from '../../src/admin/resources/users/csv.ts';

const FORMULAS = [
  '=1+1',
  '@SUM(1)',
  '+1',
  '-1',
  '\uFF1D1+1',
  '|calc',
  '%0',
  ' =1',
  '=HYPERLINK("https://evil.example";"x")',
];

/** As a spreadsheet reads a line that it separates by this character; quotes count at the start of a cell alone. */
function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    let cell = '';
    if (line[at] === '"') {
      for (at += 1; at < line.length && (line[at] !== '"' || line[at + 1] === '"'); at += 1) {
        if (line[at] === '"') at += 1;
        cell += line[at];
      }
      at += 1;
    }
    while (at < line.length && line[at] !== separator) {
      cell += line[at];
      at += 1;
    }
    cells.push(cell);
    at += 1;
  }
  return cells;
}

const RUNS = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/;

test('attack: a formula behind a semicolon or tab that separates cells elsewhere', () => {
  for (const formula of FORMULAS) {
    for (const before of ['', 'Ann', 'Ann;', 'Ann; ', 'Ann\t', 'Ann;;', '";', 'Ann;"', 'Ann,']) {
      const name = `${before}${formula}`;
      const line = csvOf([['id-1', name, 'user']]).trimEnd();
      for (const separator of [',', ';', '\t'])
        for (const cell of cellsOf(line, separator))
          assert.doesNotMatch(cell, RUNS, `${JSON.stringify(name)} by ${JSON.stringify(separator)}: ${line}`);
    }
  }
});

test('CSV: what is harmless stays as it is, and an import of an export takes the guards away', () => {
  for (const name of ['Ann; Bob', 'a;b', 'X11; Linux x86_64', 'O’Hara-Smith', 'x=1', "Ann;'quoted'"])
    assert.deepEqual(cellsOf(csvOf([[name]]).trimEnd(), ','), [name]);
  for (const name of ['=1+1', 'Ann;=1+1', 'Ann;\t=1', 'Ann; =1', '-x;-y']) {
    const { header, rows } = readTable(
      csvOf([
        ['username', 'name'],
        ['ann', name],
      ]),
    );
    assert.equal(userOf(rows[0] ?? [], header).name, name.trim());
  }
});
