// The measured servers: child processes pinned to one core (taskset) where the machine has two, so that the load generator does
// not compete with them. What they use is read from /proc (proc(5)), workers of a cluster included.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = new URL('../..', import.meta.url);
export const isPinned = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

export interface Server {
  readonly port: number;
  /** User and system time of all its threads and workers so far, in microseconds. */
  cpuMicros(): number;
  /** Resident memory of it and its workers in MiB. */
  residentMib(): number;
  stop(): Promise<void>;
}

const childrenOf = (pid: number): readonly number[] => {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(childrenOf)];
};

const TICK_MICROS = 10_000;

/** In clock ticks, those of threads that have ended included. */
const ticksOf = (pid: number): number => {
  // Fields 14 and 15; the name in field 2 may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
};

/** In nanoseconds, where the kernel tells them (sched-stats). Node's threads stay. */
const cpuOf = (pid: number): number => {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const files = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'));
    return sum(files.map((text) => Number(text.split(' ')[0]) / 1000));
  } catch {
    return ticksOf(pid);
  }
};

/** Of these processes, in microseconds; their children apart. */
export const cpuMicrosOf = (pids: readonly number[]): number => sum(pids.map(ticksOf));

/** What all processes of the machine have used so far, interrupts and what the host took included. */
export function machineMicros(): number {
  const [, user = 0, nice = 0, system = 0, , , ...others] = (
    /^cpu .*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? ''
  )
    .split(/ +/)
    .map(Number);
  // Guests are in `user` already.
  return (user + nice + system + sum(others.slice(0, 3))) * TICK_MICROS;
}

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const serverOf = (pid: number, port: number, cpu: (pid: number) => number): Omit<Server, 'stop'> => ({
  port,
  cpuMicros: () => sum(childrenOf(pid).map(cpu)),
  residentMib: () => sum(childrenOf(pid).map(residentOf)),
});

/** One that somebody else started, and ends. */
export const foreignServer = (pid: number, port: number): Server => ({
  ...serverOf(pid, port, ticksOf),
  stop: async () => {},
});

interface Start {
  readonly command: readonly string[];
  readonly env?: Record<string, string>;
  /** Whether it may use all cores. */
  readonly isFree?: boolean;
  /** Called for each line of its error output. */
  readonly onError?: (line: string) => void;
}

/** @param portIn extracts the port from a line of output, once the server is ready */
async function startProcess(
  { command, env = {}, isFree = false, onError }: Start,
  portIn: (line: string) => number | undefined,
): Promise<Server> {
  const [program = '', ...rest] = isPinned && !isFree ? ['/usr/bin/taskset', '-c', '0', ...command] : command;
  const child = spawn(program, rest, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', onError === undefined ? 'inherit' : 'pipe'],
  });
  if (child.stdout === null || child.pid === undefined) throw new Error(`${program} did not start`);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let said = '';
  createInterface(child.stdout).on('line', (line) => {
    said = line;
    const port = portIn(line);
    if (port !== undefined) resolve(port);
  });
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => onError?.(line));
  const exited = new Promise<void>((done) => {
    child.once('exit', (code) => {
      reject(new Error(`${command.join(' ')} exited with ${code}: ${said}`));
      done();
    });
  });
  return {
    ...serverOf(child.pid, await promise, cpuOf),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export const startFloor = (): Promise<Server> =>
  startProcess({ command: [process.execPath, 'scripts/bench/floor-server.ts'] }, (line) =>
    Number(JSON.parse(line).port),
  );

export interface Product extends Server {
  readonly url: string;
  readonly adminToken: string;
}

export interface ProductOptions {
  readonly env?: Record<string, string>;
  /** Arguments of node. */
  readonly flags?: readonly string[];
  /** Where its store is made; default: the folder for temporary files. */
  readonly folder?: string;
  /** A folder with a store, which is the caller's and remains; instead of a new one. */
  readonly data?: string;
  readonly isFree?: boolean;
  readonly onError?: (line: string) => void;
}

/** Asked of the kernel before the start: the address is part of every token, and five digits long like every such port. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * A fresh database on real servers.
 * @returns undefined unless MONGODB_TEST_URI, and REDIS_TEST_URL for short-lived data, name some
 */
export function elsewhere(): { readonly where: string; readonly env: Record<string, string> } | undefined {
  const { MONGODB_TEST_URI: mongodb, REDIS_TEST_URL: redis } = process.env;
  if (mongodb === undefined) return undefined;
  const uri = new URL(mongodb);
  uri.pathname = `/latchkey_bench_${randomBytes(6).toString('hex')}`;
  return {
    where: redis === undefined ? 'on MongoDB' : 'on MongoDB and Redis',
    env: {
      MONGODB_URI: uri.href,
      SECRET_KEY: 'bench-secret-key-0123456789-0123456789',
      ...(redis !== undefined && { REDIS_URL: redis }),
    },
  };
}

/** The product as it is started by `npm start`, on a store of its own that goes with it. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const { env = {}, folder = tmpdir(), isFree, onError } = options;
  const flags = options.flags ?? [];
  const data = options.data ?? mkdtempSync(join(folder, 'latchkey-bench-'));
  const adminToken = randomBytes(32).toString('base64url');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await startProcess(
    {
      command: [
        ...(flags.length > 0 ? [process.execPath, ...flags] : ['sh', 'scripts/with-node.sh']),
        'src/main.ts',
      ],
      env: {
        ...{ DATA_DIR: data, PORT: String(port), BASE_URL: url, HOST: '127.0.0.1' },
        ...{ ADMIN_TOKEN: adminToken, LOG_LEVEL: 'info', ...env },
      },
      ...(isFree !== undefined && { isFree }),
      ...(onError && { onError }),
    },
    (line) => (line.includes('"listening"') ? port : undefined),
  );
  return {
    ...server,
    url,
    adminToken,
    async stop() {
      await server.stop();
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}
