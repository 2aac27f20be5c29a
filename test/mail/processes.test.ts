// Several processes on one SQLite file send each mail once; killing one between sending and recording causes one duplicate at
// most.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { mails } from '../../src/store/collections.ts';
import {
  type MailServer,
  type MailServerOptions,
  MINUTE,
  startMailServer,
  type TestMail,
  testMail,
} from './support.ts';

const program = fileURLToPath(new URL('child.ts', import.meta.url));

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

interface Scene {
  readonly server: MailServer;
  readonly given: TestMail;
  startWorker(): ChildProcess;
}

/** A store in a file, a mail server, and workers that are gone afterwards. */
async function withScene(options: MailServerOptions, act: (scene: Scene) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-mail-'));
  const file = join(directory, 'test.db');
  const server = await startMailServer(options);
  const now = { of: (): number => Date.now() };
  const store = createSqliteStore({ file, clock: () => now.of() });
  const given = testMail({ smtpUrl: server.url(), collection: () => store.collection(mails) });
  now.of = () => given.time.now;
  given.time.now = Date.now();
  const children: ChildProcess[] = [];
  const startWorker = (): ChildProcess => {
    const child = spawn(process.execPath, [program, file, server.url()], { stdio: 'inherit' });
    children.push(child);
    return child;
  };
  try {
    await act({ server, given, startWorker });
  } finally {
    await Promise.all(children.map(kill));
    await server.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const codesOf = ({ received }: MailServer): string[] =>
  received.map(({ mail }) => /\b\d{6}\b/.exec(mail.text ?? '')?.[0] ?? '');

async function arrived(server: MailServer, count: number): Promise<void> {
  for (let waited = 0; server.received.length < count; waited += 20) {
    assert.ok(waited < 120_000, `${server.received.length} of ${count} mails arrived`);
    await sleep(20);
  }
}

test('two workers on one file: each mail once, in order per recipient', () =>
  withScene({}, async ({ server, given, startWorker }) => {
    startWorker();
    startWorker();
    const codes = Array.from({ length: 40 }, (_, n) => String(100_000 + n));
    for (const code of codes) {
      given.time.now = Date.now();
      await given.queueCode(`user${Number(code) % 4}@example.com`, code);
    }
    await arrived(server, codes.length);
    await sleep(300);
    assert.deepEqual(codesOf(server), codes);
  }));

test('worker killed between sending and recording: nothing lost, one duplicate at most', async () => {
  const killed = Promise.withResolvers<void>();
  let worker: ChildProcess | undefined;
  await withScene(
    {
      // The whole mail is here; its sender dies before it hears so.
      onMail: async () => {
        if (worker) await kill(worker);
        worker = undefined;
        killed.resolve();
        return undefined;
      },
    },
    async ({ server, given, startWorker }) => {
      await given.queueCode('ann@example.com', '100001');
      await given.queueCode('ann@example.com', '100002');
      worker = startWorker();
      await killed.promise;
      await arrived(server, 1);
      given.time.now = Date.now();
      assert.equal((await given.run()).sent, 0);
      given.time.now += MINUTE;
      assert.equal((await given.run()).sent, 2);
      given.time.now += 10 * MINUTE;
      assert.equal((await given.run()).sent, 0);
      assert.deepEqual(codesOf(server), ['100001', '100001', '100002']);
      assert.equal(server.received[0]?.mail.messageId, server.received[1]?.mail.messageId);
    },
  );
});
