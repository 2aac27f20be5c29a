// docs/recipes/application-setting.md is followed: its row is written into a copy of the project under another name, and nothing else.
// The test over all rows of an application then finds it at every way in and out.
import { match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { read, root } from './markdown.ts';

const PARTS = ['src', 'adapters', 'interactions', 'templates', 'scripts', 'test', 'package.json'];

test('recipe of a field of an application: its row is all that API, form, events and store need', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'latchkey-recipe-'));
  try {
    for (const part of PARTS) await cp(join(root, part), join(copy, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    const sample = /From \[([^\]]+)\]\([^)]+\):\n\n {3}```ts\n([\s\S]*?)\n {3}```/;
    const [, file = '', row = ''] = sample.exec(read('docs/recipes/application-setting.md')) ?? [];
    const planted = row
      .replaceAll('minimal_id_tokens', 'planted_flag')
      .replaceAll('minimalIdTokens', 'plantedFlag')
      .replace('ID tokens without profile', 'Planted');
    const source = await readFile(join(copy, file), 'utf8');
    ok(row.includes('minimal_id_tokens') && source.includes('  minimal_id_tokens:'));
    await writeFile(
      join(copy, file),
      source.replace('  minimal_id_tokens:', () => `${planted}\n  minimal_id_tokens:`),
    );
    const args = [
      '--preserve-symlinks',
      '--preserve-symlinks-main',
      '--test-reporter=spec',
      'test/clients/rows.test.ts',
    ];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: copy, env });
    match(stdout, /✔ planted_flag: what PATCH accepts/);
    match(stdout, /ℹ fail 0/);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});
