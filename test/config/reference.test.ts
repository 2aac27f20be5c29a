// The table of environment variables in docs/configuration.md. That the file is current: test/docs/generated.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderReference } from '../../src/config/reference.ts';
import { variables } from '../../src/config/schema.ts';

test('configuration table: one row per variable, and a _FILE twin per secret', () => {
  const rows = renderReference().split('\n').slice(2);
  assert.equal(rows.length, Object.keys(variables).length);
  const row = (name: string): string => rows.find((line) => line.startsWith(`| \`${name}\``)) ?? '';
  assert.match(row('SECRET_KEY'), /`SECRET_KEY_FILE`/);
  assert.doesNotMatch(row('PORT'), /_FILE/);
  for (const line of rows) assert.equal(line.split(/(?<!\\)\|/).length, 6, line);
});
