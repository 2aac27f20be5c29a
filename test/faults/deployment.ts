// A whole deployment for the fault tests: web processes under one BASE_URL on MongoDB, or MongoDB and Redis, all real, on
// loopback, and each of them killable.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ServerProcess, startServer } from '../processes/server-process.ts';
import { createOperator, type Operator, SECRET_KEY } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { type MongoServer, startOwnMongoServer } from '../support/mongodb-server.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

export const isLong = process.env.LONG === '1';
/** Of a test whose rounds differ by turns. */
export const ROUNDS = isLong ? 100 : 2;
/** Kills where each round is like the one before. */
export const KILLS = isLong ? 100 : 1;
/** The same where there is one thing less to be left behind. */
export const FEWER_ROUNDS = isLong ? 25 : 1;

/** As docs/operations.md and compose.yaml have it: what Redis has answered survives its process. */
export const DURABLE_REDIS = ['appendonly yes', 'appendfsync always'];

/** One web process, its operator talking to it and to no other. */
export interface Web extends Operator {
  /** Where it listens: not BASE_URL, which they share. */
  readonly url: string;
  readonly port: number;
  readonly process: ServerProcess;
  isReady(): Promise<boolean>;
  /** What /readyz says: its status and which part is down. */
  readiness(): Promise<{ status: number; down: readonly string[] }>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Another process on its port. */
  start(): Promise<void>;
}

export interface Deployment {
  /** BASE_URL. */
  readonly url: string;
  readonly webs: readonly [Web, Web];
  readonly mongo: MongoServer | undefined;
  readonly redis: RedisServer | undefined;
  /** Of every process of this deployment. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface DeploymentOptions {
  /** `embedded`: both processes on one SQLite file. */
  readonly kind: 'embedded' | 'mongodb' | 'split';
  /** Where its users go, when that is not one of its processes. */
  readonly publicUrl?: string;
  readonly redisConfig?: readonly string[];
  readonly logLevel?: string;
  readonly drainSeconds?: number;
  /** The address by which processes reach the database, given the server's own. */
  readonly reach?: (uri: string) => string | Promise<string>;
}

/** Nothing but an answer or an orderly refusal: a process that has met anything else has a bug. */
const BUGS = ['uncaught exception', 'unhandled rejection', 'the error page failed', 'answer failed'];

async function createWeb(dataDir: string, port: number, env: Readonly<Record<string, string>>): Promise<Web> {
  const url = `http://127.0.0.1:${port}`;
  const start = (): Promise<ServerProcess> => startServer({ dataDir, port, env });
  let running = await start();
  const assertNoBugs = (): void => {
    const lines = running.logged.filter(({ msg = '' }) => BUGS.includes(msg));
    assert.deepEqual(lines, []);
  };
  const web: Web = {
    ...createOperator(url),
    url,
    port,
    get process() {
      return running;
    },
    async readiness() {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(30_000) });
      const { down = [] }: { down?: string[] } = JSON.parse(await response.text());
      return { status: response.status, down };
    },
    isReady: () =>
      web.readiness().then(
        ({ status }) => status === 200,
        () => false,
      ),
    async kill() {
      await running.stop('SIGKILL');
      assertNoBugs();
    },
    async start() {
      running = await start();
    },
  };
  return web;
}

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { kind, redisConfig = DURABLE_REDIS, reach = (uri) => uri } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'latchkey-faults-'));
  const [mongo, redis, one, other] = await Promise.all([
    kind === 'embedded' ? undefined : startOwnMongoServer(),
    kind === 'split' ? startRedis({ config: redisConfig }) : undefined,
    freePort(),
    freePort(),
  ]);
  const url = options.publicUrl ?? `http://127.0.0.1:${one}`;
  const endServers = async (error: unknown): Promise<never> => {
    await Promise.allSettled([mongo?.stop(), redis?.stop()]);
    throw error;
  };
  const env = {
    ...(mongo && { MONGODB_URI: await reach(mongo.freshUri()) }),
    SECRET_KEY,
    BASE_URL: url,
    // Enough for balancers here, which look ten times a second or say otherwise.
    DRAIN_SECONDS: String(options.drainSeconds ?? 1),
    LOG_LEVEL: options.logLevel ?? 'warn',
    ...(redis && { REDIS_URL: redis.url }),
  };
  // Processes that start together on nothing agree (test/processes); here the other one is spared the work.
  const first = await createWeb(dataDir, one, env).catch(endServers);
  const second = await createWeb(dataDir, other, env).catch(async (error: unknown) => {
    await first.process.stop('SIGKILL');
    return endServers(error);
  });
  return {
    url,
    webs: [first, second],
    mongo,
    redis,
    env,
    async stop() {
      // Also with everything it needs gone, and whatever the test was about: all of it ends.
      await Promise.allSettled([first.process.stop('SIGKILL'), second.process.stop('SIGKILL')]);
      await Promise.allSettled([mongo?.stop(), redis?.stop(), rm(dataDir, { recursive: true, force: true })]);
      for (const web of [first, second]) {
        const bugs = web.process.logged.filter(({ msg = '' }) => BUGS.includes(msg));
        assert.deepEqual(bugs, []);
      }
    },
  };
}

/** @returns after how many ms it held */
export async function millisecondsUntil(
  isSo: () => Promise<boolean> | boolean,
  patienceMs = 180_000,
): Promise<number> {
  const started = performance.now();
  while (!(await isSo())) {
    if (performance.now() - started > patienceMs) throw new Error(`not so after ${patienceMs} ms: ${isSo}`);
    await sleep(10);
  }
  return Math.round(performance.now() - started);
}

/** Once it is what it says: a busy machine may be late with the answer of what is there. @param part what it says is down */
export const millisecondsUntilDown = (web: Pick<Web, 'readiness'>, part: string): Promise<number> =>
  millisecondsUntil(async () => isDeepStrictEqual(await web.readiness(), { status: 503, down: [part] }));

/** `n=20 median 12 ms, worst 40 ms` */
export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return `n=${sorted.length} median ${Math.round(median)} ms, worst ${Math.round(sorted.at(-1) ?? Number.NaN)} ms`;
}

/** A number in [0, below) that differs from round to round and is the same in every run. */
export function jitter(round: number, below: number): number {
  return createHash('sha256').update(String(round)).digest().readUInt32BE(0) % below;
}
