// The product as a separate process: `node src/main.ts` with an environment, a data folder and a port, observed as an operator
// would, and stopped by its process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN, createOperator, type Operator } from '../support/app.ts';
import { handedOn } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { productEntry } from '../support/product-entry.ts';

const READY_MS = 240_000;
const STOP_MS = 120_000;

export interface LogLine {
  readonly pid?: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess extends Operator {
  /** BASE_URL. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly logged: readonly LogLine[];
  /** Everything it wrote, as it wrote it. */
  output(): string;
  readonly exited: Promise<Exit>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  stop(name?: NodeJS.Signals): Promise<Exit>;
  /** The first line that fits, also one that is still to come. */
  waitForLine(fits: (line: LogLine) => boolean, patienceMs?: number): Promise<LogLine>;
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the program with nothing of this process's own environment but where to find things. */
export function run(env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [productEntry()], {
    env: { ...handedOn(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function parse(line: string): LogLine {
  try {
    const fields: LogLine = JSON.parse(line);
    return fields;
  } catch {
    return { msg: line };
  }
}

/** Starts and waits until it serves. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const port = options.port ?? (await freePort());
  const url = options.env?.BASE_URL ?? `http://127.0.0.1:${port}`;
  const child = run({
    PORT: String(port),
    HOST: '127.0.0.1',
    BASE_URL: url,
    DATA_DIR: options.dataDir,
    ADMIN_TOKEN,
    ...options.env,
  });
  const logged: LogLine[] = [];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) throw new Error('no output');
    createInterface({ input: stream }).on('line', (line) => {
      output += `${line}\n`;
      logged.push(parse(line));
    });
  }
  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  let isOver = false;
  // Not `exit`: what it wrote last has come by then.
  child.once('close', (code, signal) => {
    isOver = true;
    resolve({ code, signal });
  });

  const waitForLine: ServerProcess['waitForLine'] = async (fits, patienceMs = READY_MS) => {
    const until = performance.now() + patienceMs;
    for (;;) {
      const line = logged.find(fits);
      if (line !== undefined) return line;
      if (isOver || performance.now() > until) throw new Error(`no such line:\n${output}`);
      await sleep(10);
    }
  };

  const server: ServerProcess = {
    ...createOperator(url),
    url,
    port,
    pid: child.pid ?? Number.NaN,
    dataDir: options.dataDir,
    logged,
    output: () => output,
    exited,
    signal: (name) => void child.kill(name),
    waitForLine,
    async stop(name = 'SIGTERM') {
      child.kill(name);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
  const until = performance.now() + READY_MS;
  while (!(await isUp(port))) {
    if (isOver || performance.now() > until) {
      await server.stop('SIGKILL');
      throw new Error(`did not start:\n${output}`);
    }
    await sleep(5);
  }
  return server;
}

/** Whether anyone answers on the port, whatever the answer is. */
export async function isUp(port: number): Promise<boolean> {
  try {
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).text();
    return true;
  } catch {
    return false;
  }
}

/** Resident memory in MiB. */
export async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
