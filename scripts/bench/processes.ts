// The measured servers: child processes pinned to one core (taskset) where the machine has two, so that the load generator
// does not compete with them.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

const ROOT = new URL('../..', import.meta.url);

export const isPinned = availableParallelism() > 1 && existsSync('/usr/bin/taskset');

export interface Server {
  readonly port: number;
  /** User and system time of all its threads so far, in microseconds. */
  cpuMicros(): number;
  /** Resident memory in MiB. */
  residentMib(): number;
  stop(): Promise<void>;
}

/** @param isReady extracts the port from a line of output, once the server is ready */
export async function startServer(
  script: string,
  args: readonly string[],
  env: Record<string, string>,
  isReady: (line: string) => number | undefined,
): Promise<Server> {
  const command = [process.execPath, new URL(script, ROOT).pathname, ...args];
  const [program = '', ...rest] = isPinned ? ['/usr/bin/taskset', '-c', '0', ...command] : command;
  const child: ChildProcess = spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null || child.pid === undefined) throw new Error(`${script} did not start`);
  const { pid } = child;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  createInterface(child.stdout).on('line', (line) => {
    const port = isReady(line);
    if (port !== undefined) resolve(port);
  });
  child.once('exit', (code) => reject(new Error(`${script} exited with ${code}`)));
  const port = await promise;
  return {
    port,
    cpuMicros() {
      // proc(5): fields 14 and 15 are clock ticks of 10 ms; the name in field 2 may contain spaces.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10_000;
    },
    residentMib: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    async stop() {
      const exited = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await exited;
    },
  };
}
