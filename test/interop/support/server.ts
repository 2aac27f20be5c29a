// A server that others wrote, as a process of its own: started, waited for, and ended with all that it started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { handedOn } from '../../support/environment.ts';

const START_LIMIT_MS = 600_000;
const STOP_LIMIT_MS = 15_000;

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Answers as soon as it serves; `tcp:` where it speaks no HTTP. */
  readonly url: string;
}

export interface Server {
  /** The last of what it wrote, for the messages of failures. */
  said(): string;
  stop(): Promise<void>;
}

export async function startServer({ command, args, env = {}, cwd, url }: ServerProgram): Promise<Server> {
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...handedOn(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-8000);
    });
  const exited = once(child, 'exit');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  // A start script is the parent of the JVM: both are of the group.
  const kill = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // All of them have ended.
    }
  };
  const onExit = (): void => kill('SIGKILL');
  process.once('exit', onExit);
  const server: Server = {
    said: () => output,
    async stop() {
      process.removeListener('exit', onExit);
      kill('SIGTERM');
      await Promise.race([exited, wait(STOP_LIMIT_MS, undefined, { ref: false })]);
      kill('SIGKILL');
    },
  };
  const startedAt = Date.now();
  while (!(await answers(url))) {
    if (hasEnded() || Date.now() - startedAt > START_LIMIT_MS) {
      await server.stop();
      throw new Error(`${command} does not serve ${url}: ${output}`);
    }
    await wait(250);
  }
  return server;
}

async function answers(url: string): Promise<boolean> {
  if (url.startsWith('tcp:')) return accepts(new URL(url));
  try {
    const response = await fetch(url, { redirect: 'manual' });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    return false;
  }
}

function accepts({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
