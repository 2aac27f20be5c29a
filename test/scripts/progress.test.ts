// Long work at a terminal: what is done, how fast, how long still; Ctrl-C by a real key leaves everything whole.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { createProgress, durationOf } from '../../src/process/progress.ts';
import { purposeOf } from '../../src/second-factors/totp.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts } from '../../src/store/collections.ts';
import { fill, people } from '../support/crowd.ts';
import { plain, runInTerminal, type TerminalProgram } from '../support/terminal.ts';
import { run } from './run.ts';

/** Ten thousand documents, a thousand every second. */
function record(isTTY: boolean): string {
  let [text, at] = ['', 0];
  const out = { isTTY, write: (part: string) => (text += part) };
  const progress = createProgress({ unit: 'documents', out, now: () => at });
  for (let second = 0; second <= 60; second += 1) {
    at = second * 1_000;
    progress.update('Copying', second * 1_000, 100_000);
  }
  progress.say('accounts: done');
  progress.end();
  return text;
}

describe('progress', () => {
  test('a terminal has one line, rewritten, which is gone in the end', () => {
    const text = record(true);
    assert.match(plain(text), /\rCopying: 50,000 of 100,000 \(50 %\) documents, 1,000 a second, 50 s left\r/);
    assert.deepEqual(plain(text).split('\n'), [plain(text).split('\n')[0], '']);
    assert.ok(plain(text).endsWith('\raccounts: done\n'));
  });

  test('a log has a whole line now and then', () => {
    const lines = record(false).trimEnd().split('\n');
    assert.equal(lines.length, 7, lines.join('\n'));
    assert.equal(lines[2], 'Copying: 30,000 of 100,000 (30 %) documents, 1,000 a second, 70 s left');
    assert.doesNotMatch(lines.join(''), /[\r[]/);
  });

  test('the speed is that of the last while, not of what a continued run skipped', () => {
    let [text, at] = ['', 0];
    const out = { write: (part: string) => (text = part) };
    const progress = createProgress({ unit: 'documents', out, now: () => at });
    for (let second = 0; second <= 60; second += 1) {
      at = second * 1_000;
      progress.update('Sealing anew', 40_000 + second * 100 + (second > 0 ? 50_000 : 0), 100_000);
    }
    assert.equal(text, 'Sealing anew: 96,000 of 100,000 (96 %) documents, 100 a second, 40 s left\n');
  });

  test('what cannot be counted says for how long it has gone on', () => {
    const lines: string[] = [];
    let at = 0;
    const out = { write: (part: string) => lines.push(part) };
    const progress = createProgress({ unit: 'pages', out, now: () => at });
    for (; at <= 25_000; at += 1_000) progress.update('Checking the copy', 0, 0);
    assert.deepEqual(lines, ['Checking the copy … 10 s so far\n', 'Checking the copy … 20 s so far\n']);
  });

  test('a step that takes long: time goes on, in a terminal every second, in a log now and then', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    for (const isTTY of [true, false]) {
      const lines: string[] = [];
      let at = 0;
      const out = { isTTY, write: (part: string) => lines.push(plain(part).trim()) };
      const progress = createProgress({ unit: 'documents', out, now: () => at });
      progress.update('Copying', 0, 10_000);
      const pass = (seconds: number): void => {
        for (let n = 0; n < seconds * 4; n += 1) {
          at += 250;
          t.mock.timers.tick(250);
        }
      };
      pass(10);
      progress.update('Copying', 5_000, 10_000);
      pass(12);
      if (isTTY) {
        assert.ok(lines.length >= 20, lines.join('\n'));
        assert.ok(lines.includes('Copying: 0 of 10,000 (0 %) documents, for 9 s'), lines.join('\n'));
        const half = 'Copying: 5,000 of 10,000 (50 %) documents, 500 a second';
        for (const left of [9, 5, 1]) assert.ok(lines.includes(`${half}, ${left} s left`), lines.join('\n'));
      } else assert.equal(lines.length, 2, lines.join('\n'));
      const before = lines.length;
      progress.end();
      pass(12);
      assert.ok(lines.length <= before + 1, 'ended');
    }
  });

  test('durations are read at a glance', () => {
    assert.deepEqual([10, 89_000, 600_000, 9_000_000].map(durationOf), [
      '1 s',
      '89 s',
      '10 min',
      '2 h 30 min',
    ]);
  });
});

describe('Ctrl-C during a backup', () => {
  let folder: string;
  let program: TerminalProgram | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-progress-'));
    const file = join(folder, 'latchkey.db');
    await createSqliteStore({ file, clock: Date.now, definitions: allCollections }).close();
    // Large enough that a copy takes a while.
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE ballast(data BLOB)');
    const insert = database.prepare('INSERT INTO ballast VALUES (randomblob(4000000))');
    for (let n = 0; n < 100; n += 1) insert.run();
    database.close();
  });
  afterEach(async () => {
    await program?.close();
    await rm(folder, { recursive: true });
  });

  const start = (): TerminalProgram => {
    program = runInTerminal([process.execPath, 'scripts/backup.ts', join(folder, 'copy.db')], {
      DATA_DIR: folder,
    });
    return program;
  };

  test('while copying: nothing is left, it says so, and the same command works', async () => {
    const { waitFor, type, exited, shown } = start();
    await waitFor(/Copying: [\d,]+ of [\d,]+ \(\d+ %\) pages/);
    type('\x03');
    assert.equal(await exited, 130, shown());
    assert.match(plain(shown()), /Stopped: there is no copy, and the database is as it was/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('copy')),
      [],
    );
    const { code } = await run('scripts/backup.ts', [join(folder, 'copy.db')], { env: { DATA_DIR: folder } });
    assert.equal(code, 0);
    assert.ok(existsSync(join(folder, 'copy.db')));
  });

  test('by a signal while checking: the same', async () => {
    const { waitFor, type, exited, shown } = start();
    await waitFor(/Checking the copy …/);
    type('\x03');
    assert.equal(await exited, 130, shown());
    assert.match(plain(shown()), /Stopped: there is no copy/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('copy')),
      [],
    );
  });
});

test('Ctrl-C while a database is opened for a new signing key: nothing is done, and it says so', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-progress-'));
  t.after(() => rm(folder, { recursive: true }));
  const env = { DATA_DIR: folder };
  await createSqliteStore({
    file: join(folder, 'latchkey.db'),
    clock: Date.now,
    definitions: allCollections,
  }).close();
  const keys = async (): Promise<string> => {
    const { code, stdout } = await run('scripts/rotate-keys.ts', ['--list'], { env });
    assert.equal(code, 0);
    return stdout;
  };
  const before = await keys();
  const { waitFor, type, exited, shown, close } = runInTerminal(
    [process.execPath, 'scripts/rotate-keys.ts', '--immediate'],
    env,
  );
  t.after(close);
  await waitFor(/Opening the database …/);
  type('\x03');
  assert.equal(await exited, 130, shown());
  const said = plain(shown());
  // On a slow machine the key may be pressed when the new one is there: then it is shown, and said.
  if (/Stopped before anything was done: the keys are as they were/.test(said))
    assert.equal(await keys(), before);
  else assert.match(said, /next .*[\s\S]*The new key was there before it could be stopped/);
});

test('Ctrl-C during the conversion of a large realm: it stops, and the same command writes all', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-progress-'));
  t.after(() => rm(folder, { recursive: true }));
  const users = Array.from({ length: 60_000 }, (_, n) => ({
    username: `person${n}`,
    email: `p${n}@example.com`,
  }));
  const [realm, to] = [join(folder, 'realm.json'), join(folder, 'converted')];
  await writeFile(realm, JSON.stringify({ users }));
  const command = ['scripts/convert-realm.ts', realm, to];
  const { waitFor, type, exited, shown, close } = runInTerminal([process.execPath, ...command]);
  t.after(close);
  await waitFor(/Reading .*realm\.json …/);
  type('\x03');
  assert.equal(await exited, 130, shown());
  assert.match(plain(shown()), /Stopped: not all files are in .*converted\. Run the same command again/);
  const again = await run('scripts/convert-realm.ts', [realm, to]);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /^0 groups, 60000 users, 0 clients, /);
  assert.equal((await readdir(to)).filter((name) => name.startsWith('users-')).length, 12);
});

test('Ctrl-C during sealing anew: what is sealed is whole, and the same command continues', async (t) => {
  const [old, next] = ['old-secret-key-0123456789-0123456789', 'new-secret-key-0123456789-0123456789'];
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-progress-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'latchkey.db');
  const sealer = createSealer([old]);
  const count = 3_000;
  function* enrolled() {
    for (const person of people(count, { now: Date.now(), passwordHash: '' })) {
      const totp = { sealedSecret: sealer.seal(purposeOf(person.id), person.id), lastStep: 0, enrolledAt: 0 };
      yield { ...person, value: { ...person.value, totpVerified: true, totp } };
    }
  }
  await fill(file, accounts, enrolled());
  const env = { DATA_DIR: folder, SECRET_KEY: `${next},${old}` };
  const command = [process.execPath, 'scripts/rotate-keys.ts', '--reseal'];
  const { waitFor, type, exited, shown, close } = runInTerminal(command, env);
  t.after(close);
  await waitFor(/Opening the database …/);
  await waitFor(/Sealing anew: \d+ of 3,000 \(\d+ %\) documents read/);
  type('\x03');
  assert.equal(await exited, 130, shown());
  assert.match(plain(shown()), /Stopped: each of these is whole, .* Keep the list \(SECRET_KEY=new,old\)/);
  const [, sealed = ''] = /Sealed anew with the first SECRET_KEY: (\d+)\./.exec(plain(shown())) ?? [];
  assert.ok(Number(sealed) > 0 && Number(sealed) < count, sealed);
  const rest = await run('scripts/rotate-keys.ts', ['--reseal'], { env });
  assert.equal(rest.code, 0, rest.stderr);
  assert.ok(rest.stdout.includes(`Sealed anew with the first SECRET_KEY: ${count - Number(sealed)}.`));
  const newest = createSealer([next]);
  const database = new DatabaseSync(file, { readOnly: true });
  for (const { id, value } of database.prepare('SELECT id, value FROM accounts').all()) {
    const { totp }: { totp: { sealedSecret: string } } = JSON.parse(String(value));
    assert.equal(newest.open(purposeOf(String(id)), totp.sealedSecret), id);
  }
  database.close();
});
