// Holds the backup of the embedded database: whole while writers run, private, never on top of anything, and a server that
// starts on it knows everyone.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { type Note, notes } from '../store/sqlite-support.ts';
import { startApp } from '../support/app.ts';
import { run } from './run.ts';

describe('scripts/backup.ts', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-backup-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const backup = (dataDir: string, ...args: string[]) =>
    run('scripts/backup.ts', args, { env: { DATA_DIR: dataDir } });
  const note = (id: string): Note => ({ id, text: id.repeat(100) });

  test('between two related writes: contains both or only the first, and all before', async () => {
    const store = createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now });
    const collection = store.collection(notes);
    await Promise.all(Array.from({ length: 2_000 }, (_, n) => collection.insert(`old${n}`, note(`old${n}`))));
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      for (; !isOver; written += 1) await collection.insert(`new${written}`, note(`new${written}`));
    })();
    const target = join(folder, 'copy.db');
    const before = written;
    const { code, stdout, stderr } = await backup(folder, target);
    isOver = true;
    await writing;
    await store.close();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /copy\.db: \d+ documents/);
    assert.equal(statSync(target).mode & 0o777, 0o600);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('copy')),
      ['copy.db'],
    );

    const copy = createSqliteStore({ file: target, clock: Date.now });
    const { total } = await copy.collection(notes).query({ sort: 'id', order: 'asc', limit: 1 });
    const added = total - 2_000;
    assert.ok(added >= before && added <= written, `${added} of ${before} to ${written}`);
    // One writer, one after the other: what is in the copy is a beginning without gaps.
    for (let n = 0; n < added; n += 1) assert.ok(await copy.collection(notes).find(`new${n}`), `new${n}`);
    await copy.close();
  });

  /** A database of that size, to which another process writes fifty times a second from then on. */
  async function busyDatabase(
    megabytes: number,
  ): Promise<{ stop(): Promise<{ writes: number; slowestMs: number }> }> {
    const file = join(folder, 'latchkey.db');
    await createSqliteStore({ file, clock: Date.now, definitions: [notes] }).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA synchronous = OFF; BEGIN');
    const insert = database.prepare(`INSERT INTO notes (id, version, value) VALUES (?, 1, ?)`);
    const value = JSON.stringify({ id: '', text: 'x'.repeat(3_900) });
    for (let row = 0; row < megabytes * 256; row += 1) insert.run(`old${row}`, value);
    database.exec('COMMIT');
    database.close();
    const writer = fork(new URL('./busy-writer.ts', import.meta.url), [file], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await once(writer, 'message');
    return {
      async stop() {
        writer.send('stop');
        const [outcome] = await once(writer, 'message');
        writer.disconnect();
        return outcome;
      },
    };
  }

  for (const megabytes of process.env.LONG === '1' ? [64, 500] : [64])
    test(`${megabytes} MB beside 50 writes a second of another process: ends, whole, of one moment`, async () => {
      const busy = await busyDatabase(megabytes);
      const target = join(folder, 'copy.db');
      const { code, stdout, stderr } = await backup(folder, target);
      const { writes, slowestMs } = await busy.stop();
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /copy\.db: [1-9]\d+ documents/);
      assert.equal(statSync(target).mode & 0o777, 0o600);
      // Nobody waited for it: a write takes milliseconds; the bound is for a busy machine.
      assert.ok(writes > 10 && slowestMs < 5_000, `${writes} writes, the slowest ${slowestMs} ms`);
      const copy = new DatabaseSync(target, { readOnly: true });
      const [first, last] = ['old0', `old${megabytes * 256 - 1}`].map((id) =>
        copy.prepare('SELECT version FROM notes WHERE id = ?').get(id),
      );
      copy.close();
      // The writer changes the first and the last row together.
      assert.deepEqual(first, last);
    });

  test('a server on the copy and its key accepts the same sign-ins', async () => {
    const app = await startApp({ store: 'sqlite' });
    const { id } = await app.createUser('ada');
    const dataDir = join(folder, 'restored');
    await mkdir(dataDir);
    assert.equal((await backup(app.dataDir, join(dataDir, 'latchkey.db'))).code, 0);
    await copyFile(join(app.dataDir, 'secret.key'), join(dataDir, 'secret.key'));
    await app.stop();
    const store = createSqliteStore({ file: join(dataDir, 'latchkey.db'), clock: Date.now });
    const restored = await startApp({ shared: store, env: { DATA_DIR: dataDir, SECRET_KEY: '' } });
    assert.equal((await restored.admin('GET', `/users/${id}`)).body.data.username, 'ada');
    await restored.stop();
    await store.close();
  });

  test('an impossible backup is reported in one line and leaves nothing', async () => {
    const none = await backup(join(folder, 'nowhere'), join(folder, 'copy.db'));
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^There is no database at .*nowhere/);
    const store = createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now });
    await store.close();
    await writeFile(join(folder, 'older.db'), 'older');
    const taken = await backup(folder, join(folder, 'older.db'));
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, /The file exists/);
    const away = await backup(folder, join(folder, 'no', 'such', 'folder.db'));
    assert.equal(away.code, 2);
    assert.match(away.stderr, /^There is no folder \S+\/no\/such\. Create it, or choose another path\.\n$/);
    assert.equal(existsSync(join(folder, 'copy.db')), false);
    assert.equal((await backup(folder)).code, 2);
    const option = await backup(folder, '--fast');
    assert.deepEqual([option.code, option.stderr], [2, "Unknown option '--fast'\nTry --help.\n"]);
  });

  test('a damaged database gives no backup: lost entries of an index, overwritten pages', async () => {
    const file = join(folder, 'latchkey.db');
    const store = createSqliteStore({ file, clock: Date.now, definitions: [notes] });
    await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        store.collection(notes).insert(`n${n}`, { id: `n${n}`, text: `${n}`.repeat(200) }),
      ),
    );
    await store.close();
    const whole = await readFile(file);
    const database = new DatabaseSync(file, { defensive: false });
    database.exec('CREATE INDEX lost ON notes (version); PRAGMA writable_schema = ON');
    // The index is of another column than it was made of.
    database.exec(`UPDATE sqlite_schema SET sql = 'CREATE INDEX lost ON notes (value)' WHERE name = 'lost'`);
    database.close();
    const lost = await backup(folder, join(folder, 'copy.db'));
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /^No backup at .*copy\.db: .*(?:missing from index lost|wrong # of entries)/);
    whole.fill(0xff, whole.length / 2, whole.length / 2 + 40_960);
    await writeFile(file, whole);
    const overwritten = await backup(folder, join(folder, 'copy.db'));
    assert.equal(overwritten.code, 1);
    assert.match(overwritten.stderr, /^No backup at .*copy\.db: /);
    assert.doesNotMatch(lost.stderr + overwritten.stderr, /\n\s+at /);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('copy')),
      [],
    );
  });
});
