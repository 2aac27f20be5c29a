// Checks that README.md beside this file is complete and true: all 178 lines of the security checklist and the guards of APIs and
// agents once and in order, and the rules of the decisions, each with a test whose file is there and names it, or with a plain word
// on why there is none.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const LINES = 178;
const GUARDS = 36;
const tests = join(import.meta.dirname, '..');
const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
const rows = readme
  .split('\n')
  .filter((line) => /^\| (?:[RAP]\d|§\d)/.test(line))
  .map((line) => {
    const [, id = '', rule = '', cell = '', ...more] = line.split('|').map((part) => part.trim());
    return { id, rule, entries: cell.split('<br>'), isWhole: more.length === 1 && more[0] === '' };
  });

/** The lines on administering people in numbers. */
const PEOPLE = 8;

/** What an entry names; undefined: it is a remark. */
function reference(entry: string): { file: string; name: string } | undefined {
  const [, file = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(entry) ?? [];
  return file === '' ? undefined : { file, name };
}

const sources = new Map<string, string>();
function sourceOf(file: string): string {
  const path = join(tests, file);
  const source = sources.get(file) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
  sources.set(file, source);
  return source;
}

const numbered = (letter: string, count: number, digits: number): string[] =>
  Array.from({ length: count }, (_, index) => `${letter}${String(index + 1).padStart(digits, '0')}`);

test('checklist: its lines and the guards are in the tables, once and in order', () => {
  deepEqual(
    rows.map(({ id }) => id).filter((id) => !id.startsWith('§')),
    [...numbered('R', LINES, 3), ...numbered('P', PEOPLE, 2), ...numbered('A', GUARDS, 2)],
  );
  // Those of the decisions come behind, by section, each rule once.
  const rules = rows.filter(({ id }) => id.startsWith('§')).map(({ rule }) => rule);
  equal(new Set(rules).size, rules.length, 'a rule of the decisions is there twice');
  for (const { id, rule, isWhole } of rows) {
    ok(isWhole, `${id} has not three cells`);
    ok(rule.length >= 25 && rule.endsWith('.'), `${id} says nothing: ${rule}`);
  }
});

test('checklist: every test the table names exists', () => {
  const missing = rows.flatMap(({ id, entries }) =>
    entries.flatMap((entry) => {
      const named = reference(entry);
      if (named === undefined) return [];
      const source = sourceOf(named.file);
      if (source === '') return [`${id}: no file test/${named.file}`];
      return source.includes(named.name) ? [] : [`${id}: test/${named.file} has no "${named.name}"`];
    }),
  );
  deepEqual(missing, []);
});

test('checklist: no cell is empty, and an entry without a test is a remark in words', () => {
  let held = 0;
  for (const { id, entries } of rows) {
    for (const entry of entries) {
      if (reference(entry) !== undefined) continue;
      ok(/^– \S.{10,}\.$/.test(entry), `${id}: neither a test nor a remark: "${entry}"`);
    }
    equal(new Set(entries).size, entries.length, `${id} names something twice`);
    if (entries.some((entry) => reference(entry) !== undefined)) held += 1;
    else ok(/^– (?:Does not apply|Not held yet)\b/.test(entries[0] ?? ''), `${id} has no test and no reason`);
  }
  ok(held >= LINES + GUARDS - 5, `${held} lines only have a test`);
});

test('checklist: entries name tests or cases, not words of a comment', () => {
  for (const { id, entries } of rows) {
    for (const entry of entries) {
      const named = reference(entry);
      if (named === undefined) continue;
      const { file, name } = named;
      ok(name.length >= 10, `${id}: "${name}" could be anything`);
      const lines = sourceOf(file)
        .split('\n')
        .filter((line) => line.includes(name));
      ok(
        lines.some((line) => !/^\s*(?:\/\/|\*)/.test(line)),
        `${id}: "${name}" is only in a comment of ${file}`,
      );
    }
  }
});
