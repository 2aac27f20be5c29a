// Restoring a backup at the terminal: what was there before is kept, and nothing changes before the copy is whole.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { facts } from '../../src/store/collections.ts';
import { startServer } from '../processes/server-process.ts';
import { plain, runInTerminal } from '../support/terminal.ts';
import { type Outcome, run } from './run.ts';

describe('scripts/restore.ts', () => {
  let folder: string;
  let file: string;
  let backup: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-restore-'));
    [file, backup] = [join(folder, 'latchkey.db'), join(folder, 'of-yesterday')];
    await note('as it was backed up');
    assert.equal((await run('scripts/backup.ts', [backup], { env: { DATA_DIR: folder } })).code, 0);
    await note('as it is');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function note(value: string): Promise<void> {
    const store = createSqliteStore({ file, clock: Date.now, definitions: allCollections });
    await store.collection(facts).put('state', { at: 1, value });
    await store.close();
  }
  const stateOf = (path: string): unknown => {
    const database = new DatabaseSync(path, { readOnly: true });
    const row = database.prepare(`SELECT value FROM facts WHERE id = 'state'`).get();
    database.close();
    return JSON.parse(String(row?.value)).value;
  };
  const restore = (from = backup): Promise<Outcome> =>
    run('scripts/restore.ts', [from], { env: { DATA_DIR: folder } });
  const keptIn = async (): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name.includes('.before-') && !/-(?:wal|shm)$/.test(name));

  /** Nothing has changed, and nothing is left. */
  async function assertRefused({ code, stderr }: Outcome, reason: RegExp): Promise<void> {
    assert.equal(code, 1, stderr);
    assert.match(stderr, reason);
    assert.doesNotMatch(stderr, /\n\s+at /);
    assert.equal(stateOf(file), 'as it is');
    assert.deepEqual(await keptIn(), []);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes('.part')),
      [],
    );
  }

  test('the backup is in its place, readable by its owner alone; what was there before is kept', async () => {
    const { code, stdout, stderr } = await restore();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /latchkey\.db is .*of-yesterday now: \d+ documents, 0 of them accounts\./);
    assert.equal(stateOf(file), 'as it was backed up');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const [kept = ''] = await keptIn();
    assert.ok(stdout.includes(join(folder, kept)));
    assert.equal(stateOf(join(folder, kept)), 'as it is');
    assert.ok(existsSync(backup));
  });

  test('what a crash left beside the database is not read as changes of the backup', async () => {
    const crashing = new DatabaseSync(file);
    crashing.exec(`PRAGMA journal_mode = WAL; UPDATE facts SET value = json_set(value, '$.value', 'late')`);
    const [log, index] = await Promise.all([readFile(`${file}-wal`), readFile(`${file}-shm`)]);
    const [database] = await Promise.all([readFile(file)]);
    crashing.close();
    await Promise.all([
      writeFile(file, database),
      writeFile(`${file}-wal`, log),
      writeFile(`${file}-shm`, index),
    ]);
    assert.equal((await restore()).code, 0);
    assert.equal(stateOf(file), 'as it was backed up');
    const [kept = ''] = await keptIn();
    assert.equal(stateOf(join(folder, kept)), 'late', 'its latest changes are kept with it');
  });

  test('into an empty folder, and in the place of a damaged database', async () => {
    const empty = join(folder, 'new', 'data');
    const fresh = await run('scripts/restore.ts', [backup], { env: { DATA_DIR: empty } });
    assert.deepEqual([fresh.code, fresh.stderr], [0, '']);
    assert.match(fresh.stdout, /\nStart the server\.\n$/);
    assert.equal(stateOf(join(empty, 'latchkey.db')), 'as it was backed up');
    await writeFile(file, 'no database '.repeat(1_000));
    assert.equal((await restore()).code, 0);
    assert.equal(stateOf(file), 'as it was backed up');
    assert.equal((await keptIn()).length, 1);
  });

  test('in the place of a database that is gone but for its latest changes: they are not read', async () => {
    await rm(file);
    await writeFile(`${file}-wal`, 'of the one that is gone');
    assert.equal((await restore()).code, 0);
    assert.ok(!existsSync(`${file}-wal`));
    assert.equal(stateOf(file), 'as it was backed up');
  });

  test('attack: under a running server, of a damaged or a foreign file', async () => {
    const server = await startServer({ dataDir: folder });
    try {
      await assertRefused(await restore(), /is in use\. Stop the server, and run this again/);
    } finally {
      await server.stop();
    }
    const whole = await readFile(backup);
    whole.fill(0xff, whole.length / 2, whole.length / 2 + 40_960);
    const damaged = join(folder, 'damaged');
    await writeFile(damaged, whole);
    await assertRefused(await restore(damaged), /damaged was not restored: .*\. Nothing was changed\./);
    const foreign = join(folder, 'foreign');
    const other = new DatabaseSync(foreign);
    other.exec('CREATE TABLE accounts (id TEXT)');
    other.close();
    await assertRefused(await restore(foreign), /foreign was not restored: it is no database of Latchkey/);
    await writeFile(foreign, 'no database '.repeat(1_000));
    await assertRefused(
      await restore(foreign),
      /foreign was not restored: file is not a database\. Nothing was changed\./,
    );
    const missing = await restore(join(folder, 'missing'));
    assert.deepEqual([missing.code, missing.stderr.split('\n').length], [2, 2], missing.stderr);
    assert.equal((await restore(folder)).code, 2);
  });

  test('Ctrl-C: the database is as it was, and the same command works', async () => {
    const large = join(folder, 'large');
    await copyFile(backup, large);
    const growing = new DatabaseSync(large);
    growing.exec(`CREATE TABLE ballast (data BLOB);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO ballast SELECT randomblob(4000000) FROM n`);
    growing.close();
    const env = { DATA_DIR: folder };
    const program = runInTerminal([process.execPath, 'scripts/restore.ts', large], env);
    await program.waitFor(/Copying: [\d,]+ of [\d,]+ \(\d+ %\) pages|Checking the copy/);
    program.type('\x03');
    assert.equal(await program.exited, 130, program.shown());
    const shown = plain(program.shown());
    assert.match(shown, /Stopped: the database is as it was\. Run the same command again\./);
    assert.deepEqual(await keptIn(), []);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes('.part')),
      [],
    );
    const again = await restore(large);
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.equal(stateOf(file), 'as it was backed up');
  });
});
