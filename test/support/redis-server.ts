// Real Redis servers for tests: Debian's redis-server in its own directory on a free port, alone, as three masters of a cluster, or
// as a master with a replica and a sentinel. Without it the test fails.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Where it keeps its files. */
  readonly directory: string;
  /** @returns what redis-cli printed */
  cli(...command: string[]): Promise<string>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it accepts connections and answers nothing. SIGCONT: it goes on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Again, on the same port with the same files. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Lines of redis.conf. */
  readonly config?: readonly string[];
  readonly isSentinel?: boolean;
  /** Options of redis-cli that this server needs. */
  readonly cliOptions?: readonly string[];
  /** Encrypted only, with `tls-port` in place of `port`. */
  readonly isTls?: boolean;
}

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { config = [], cliOptions = [], isSentinel = false, isTls = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-redis-'));
  const port = await freePort();
  const file = join(directory, 'redis.conf');
  const ports = isTls ? ['port 0', `tls-port ${port}`] : [`port ${port}`];
  const base = ['bind 127.0.0.1', ...ports, `dir ${directory}`, 'daemonize no', 'loglevel warning'];
  await writeFile(file, [...base, ...(isSentinel ? [] : ['save ""']), ...config, ''].join('\n'));
  let child: ReturnType<typeof spawn> | undefined;

  const cli = async (...command: string[]): Promise<string> => {
    const { stdout } = await run('redis-cli', [
      '-h',
      '127.0.0.1',
      '-p',
      String(port),
      ...cliOptions,
      ...command,
    ]);
    return stdout.trim();
  };

  async function start(): Promise<void> {
    const begun = spawn('redis-server', [file, ...(isSentinel ? ['--sentinel'] : [])], { stdio: 'ignore' });
    let problem = '';
    begun.once('error', (error) => {
      problem = `redis-server cannot be started: ${error.message}`;
    });
    child = begun;
    for (let round = 0; round < 2_400; round += 1) {
      if (problem !== '') throw new Error(problem);
      if (begun.exitCode !== null) throw new Error(`redis-server ended with ${begun.exitCode}`);
      if ((await cli('ping').catch(() => '')) === 'PONG') return;
      await sleep(25);
    }
    throw new Error('redis-server does not answer');
  }

  async function kill(): Promise<void> {
    const begun = child;
    child = undefined;
    if (begun?.pid === undefined || begun.exitCode !== null || begun.signalCode !== null) return;
    const isGone = once(begun, 'exit');
    begun.kill('SIGKILL');
    await isGone;
  }

  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    directory,
    cli,
    kill,
    signal: (name) => {
      child?.kill(name);
    },
    start,
    async stop() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The server that REDIS_TEST_URL names, or one of its own: for what tells its keys from those of others. */
export async function redisToShare(): Promise<Pick<RedisServer, 'url' | 'stop'>> {
  const given = process.env.REDIS_TEST_URL;
  return given ? { url: given, stop: async () => undefined } : startRedis();
}

const SLOTS = 16_384;

/** Three masters that share the slots, without replicas. */
export async function startRedisCluster(): Promise<{
  servers: RedisServer[];
  url: string;
  stop(): Promise<void>;
}> {
  const config = ['cluster-enabled yes', 'cluster-node-timeout 2000', 'appendonly yes'];
  const servers = await Promise.all([1, 2, 3].map(() => startRedis({ config })));
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const [first] = servers;
    for (const [n, server] of servers.entries()) {
      const from = Math.ceil((SLOTS * n) / servers.length);
      const to = Math.ceil((SLOTS * (n + 1)) / servers.length) - 1;
      await server.cli('cluster', 'addslotsrange', String(from), String(to));
      if (first !== undefined && server !== first)
        await first.cli('cluster', 'meet', '127.0.0.1', String(server.port));
    }
    for (const server of servers)
      await until(async () => /cluster_state:ok/.test(await server.cli('cluster', 'info')));
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
    return { servers, url: `redis://${hosts.join(',')}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when it holds. @throws when it still does not after `ms` */
export async function until(isSo: () => Promise<boolean> | boolean, ms = 180_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not so after ${ms} ms: ${isSo}`);
    await sleep(50);
  }
}
