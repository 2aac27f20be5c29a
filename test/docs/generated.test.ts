// Documentation: the generated pages are what the code says now, and complete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedDocuments, renderConfiguration, renderErrors } from '../../scripts/docs/generated.ts';
import { variables } from '../../src/config/schema.ts';
import { errorCodes, errorRows } from '../../src/model/errors/errors.ts';
import { settingKeys } from '../../src/model/settings/settings.ts';
import { read } from './markdown.ts';

for (const { file, render } of generatedDocuments) {
  test(`${file}: equals what the code says (npm run docs)`, () => {
    // The first line that differs, not two whole pages.
    const [stands, expected] = [read(file).split('\n'), render().split('\n')];
    const line = expected.findIndex((text, index) => text !== stands[index]);
    assert.equal(stands[line], expected[line], `line ${line + 1}`);
    assert.equal(stands.length, expected.length);
  });
}

test('docs/configuration.md: one row for each variable and each setting', () => {
  const rows = renderConfiguration()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const names = rows.map((line) => /^\| `(\w+)`/.exec(line)?.[1]);
  assert.deepEqual([...names].sort(), [...Object.keys(variables), ...settingKeys].sort());
  for (const row of rows) assert.doesNotMatch(row, /undefined|\[object/, row);
});

test('docs/errors.md: one row for each code, with cause and remedy in sentences', () => {
  const text = renderErrors();
  for (const code of errorCodes) assert.equal(text.split(`| \`${code}\` |`).length, 2, code);
  for (const [code, { message, cause, remedy }] of Object.entries(errorRows)) {
    assert.ok(message.endsWith('.'), code);
    for (const sentence of [cause, remedy]) {
      assert.ok(sentence.length >= 15 && sentence.endsWith('.'), `${code}: ${sentence}`);
    }
  }
});

test('docs/errors.md: settings and files that a remedy names exist', () => {
  const text = renderErrors();
  const settings = new Set<string>(settingKeys);
  for (const [, name = ''] of text.matchAll(/`((?:allow|mfa|auth|interaction)_[a-z_]+)`/g)) {
    assert.ok(settings.has(name) || ['allowed_groups'].includes(name), name);
  }
  for (const [, path = ''] of text.matchAll(/\b(docs\/[\w-]+\.md)\b/g))
    assert.ok(read(path).length > 0, path);
});
