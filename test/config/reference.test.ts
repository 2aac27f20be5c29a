// Holds the README's table of environment variables equal to the schema.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderReference, withReference } from '../../src/config/reference.ts';
import { variables } from '../../src/config/schema.ts';

test('README.md tells every environment variable as it is (npm run config:reference)', () => {
  const file = new URL('../../README.md', import.meta.url);
  assert.ok(existsSync(file), 'there is no README.md');
  const readme = readFileSync(file, 'utf8');
  const fresh = withReference(readme);
  assert.ok(fresh !== undefined, 'README.md has no config:start and config:end markers');
  assert.equal(readme, fresh);
});

test('the table has one row for each variable, and a _FILE twin for each secret', () => {
  const rows = renderReference().split('\n').slice(2);
  assert.equal(rows.length, Object.keys(variables).length);
  const row = (name: string): string => rows.find((line) => line.startsWith(`| \`${name}\``)) ?? '';
  assert.match(row('SECRET_KEY'), /`SECRET_KEY_FILE`/);
  assert.doesNotMatch(row('PORT'), /_FILE/);
  for (const line of rows) assert.equal(line.split(/(?<!\\)\|/).length, 6, line);
});

test('a page without markers is not written', () => {
  assert.equal(withReference('# Readme\n'), undefined);
  assert.equal(withReference('<!-- config:end --> <!-- config:start -->'), undefined);
});
