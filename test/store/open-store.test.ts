// The embedded store of a deployment: its directory is created, private, and named when it is the problem.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { openStore } from '../../adapters/index.ts';
import { accounts, facts } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { temporaryDirectory } from './sqlite-support.ts';

describe('openStore', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory.remove());

  test('creates a private directory and keeps what is written', async () => {
    const dataDir = `${directory.path}/new/data`;
    const store = await openStore({ config: { dataDir }, clock: Date.now });
    await store.collection(facts).insert('installed', { at: 1, value: 'yes' });
    const files = await readdir(dataDir);
    assert.ok(files.includes('latchkey.db'));
    assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
    for (const file of files) assert.equal((await stat(`${dataDir}/${file}`)).mode & 0o777, 0o600, file);
    await store.close();

    const again = await openStore({ config: { dataDir }, clock: Date.now });
    assert.equal((await again.collection(facts).find('installed'))?.value.value, 'yes');
    assert.equal(
      (await again.collection(accounts).query({ sort: 'username', order: 'asc', limit: 1 })).total,
      0,
    );
    assert.equal(await again.sweep(10), 0);
    await again.close();
  });

  test('names the directory that cannot be created', async () => {
    const dataDir = `${directory.path}/file/data`;
    await writeFile(`${directory.path}/file`, 'in the way');
    await assert.rejects(
      openStore({ config: { dataDir }, clock: Date.now }),
      (error) => error instanceof StoreUnavailable && error.message.includes(dataDir),
    );
  });

  test('start: without a warning about an experimental module', () => {
    const script = `await import(${JSON.stringify(new URL('../../adapters/sqlite/store.ts', import.meta.url).href)})`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });
});
