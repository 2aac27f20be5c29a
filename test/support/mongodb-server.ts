// A MongoDB server for a test file: the one that MONGODB_TEST_URI names, or its own on a free port. Without either the tests fail;
// they are never skipped.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { freePort } from './free-port.ts';

export interface MongoServer {
  /** @returns the address of a database that nothing has been written to */
  freshUri(): string;
  /** kill -9, or for a server that is not ours: an error. Its data is gone: it lives in its memory. */
  kill(): Promise<void>;
  /** Starts it again on its port, empty. */
  restart(): Promise<void>;
  /** Lets it hang (SIGSTOP), as a machine does that swaps or is cut off. */
  freeze(): Promise<void>;
  thaw(): void;
  /** @throws when it ended by itself */
  stop(): Promise<void>;
}

const binary = fileURLToPath(
  new URL('../../node_modules/@jongodb/memory-server-bin-linux-x64-gnu/bin/jongodb', import.meta.url),
);

// It answers a monitor's long poll once and then no more, which the driver takes for a broken server.
const POLL = 'serverMonitoringMode=poll';
const START_MS = 180_000;

const freshName = (): string => `latchkey_test_${randomBytes(8).toString('hex')}`;

/** @returns the address with another database in it */
const withDatabase = (uri: string, name: string): string =>
  uri.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);

/** @returns the address of a database that nothing has been written to, on the same server */
export const freshDatabase = (uri: string): string => withDatabase(uri, freshName());

/** Whether every thread of it stands still. */
async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(
    threads.map(
      async (thread) => (await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')).split(') ')[1],
    ),
  );
  return states.every((state) => state?.startsWith('T'));
}

async function answers(uri: string): Promise<boolean> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 500 });
  try {
    await client.db('admin').command({ ping: 1 });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

function onGivenServer(given: string): MongoServer {
  const names: string[] = [];
  const notOurs = (): never => {
    throw new Error('MONGODB_TEST_URI names a server that this test may not stop');
  };
  return {
    freshUri() {
      const name = freshName();
      names.push(name);
      return withDatabase(given, name);
    },
    kill: async () => notOurs(),
    restart: async () => notOurs(),
    freeze: async () => notOurs(),
    thaw: notOurs,
    async stop() {
      const client = new MongoClient(given);
      // The compatible server cannot drop; what is left there goes with its process.
      for (const name of names)
        await client
          .db(name)
          .dropDatabase()
          .catch(() => false);
      await client.close();
    },
  };
}

/** One that the test may kill: never the one that MONGODB_TEST_URI names. @param options.isAlone in no replica set */
export async function startOwnMongoServer({ isAlone = false } = {}): Promise<MongoServer> {
  if (!existsSync(binary)) {
    throw new Error('No MongoDB to test with: install the development packages, or set MONGODB_TEST_URI.');
  }
  const port = await freePort();
  const base = `mongodb://127.0.0.1:${port}/?${isAlone ? '' : 'replicaSet=rs0&'}${POLL}`;
  let child: ChildProcess | undefined;
  let said = '';
  let isMeantToEnd = false;

  async function start(): Promise<void> {
    const args = [
      '--host=127.0.0.1',
      `--port=${port}`,
      '--database=test',
      ...(isAlone
        ? ['--topology-profile=standalone']
        : ['--topology-profile=singleNodeReplicaSet', '--replica-set-name=rs0']),
    ];
    isMeantToEnd = false;
    const started = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    const listen = (text: string): void => {
      said = (said + text).slice(-2_000);
    };
    started.stdout.setEncoding('utf8').on('data', listen);
    started.stderr.setEncoding('utf8').on('data', listen);
    const deadline = performance.now() + START_MS;
    while (!(await answers(base))) {
      if (started.exitCode !== null || performance.now() > deadline) {
        started.kill('SIGKILL');
        throw new Error(`The MongoDB server for tests did not start: ${said}`);
      }
      await sleep(50);
    }
  }

  async function end(): Promise<void> {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    isMeantToEnd = true;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  }

  // A test file that is ended in the middle must not leave its server behind.
  process.once('exit', () => child?.kill('SIGKILL'));
  await start();
  return {
    freshUri: () => freshDatabase(base),
    kill: end,
    restart: start,
    async freeze() {
      child?.kill('SIGSTOP');
      // On a busy machine its threads stop one after the other, and one may still answer.
      while (!(await isStopped(child?.pid ?? 0))) await sleep(5);
    },
    thaw: () => void child?.kill('SIGCONT'),
    async stop() {
      const hasCrashed = !isMeantToEnd && (child?.exitCode !== null || child.signalCode !== null);
      await end();
      if (hasCrashed) throw new Error(`The MongoDB server for tests crashed: ${said}`);
    },
  };
}

/** @throws when there is neither MONGODB_TEST_URI nor a server to start */
export async function startMongoServer(): Promise<MongoServer> {
  const given = process.env.MONGODB_TEST_URI;
  return given ? onGivenServer(given) : startOwnMongoServer();
}
