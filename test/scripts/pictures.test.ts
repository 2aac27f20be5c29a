// The script that takes the pictures of README.md, from the running product.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from './run.ts';

test('pictures: taken anew, small, and with nothing left running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pictures-test-'));
  try {
    const { code, stderr } = await run('scripts/pictures.ts', ['--out', folder], { timeoutMs: 180_000 });
    assert.deepEqual([code, stderr], [0, '']);
    const names = (await readdir(folder)).sort();
    assert.deepEqual(names, ['administration.png', 'sign-in.png']);
    for (const name of names) {
      const { size } = await stat(join(folder, name));
      assert.ok(size > 10_000 && size < 150_000, `${name}: ${size} bytes`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('pictures: an unknown option and an absent Chromium end with 2 and a sentence', async () => {
  for (const [args, says] of [
    [['--nonsense'], /Unknown option '--nonsense'/],
    [['--chromium', '/nowhere/chromium'], /no program \/nowhere\/chromium\. .*--chromium/],
  ] as const) {
    const { code, stderr } = await run('scripts/pictures.ts', args);
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
});
