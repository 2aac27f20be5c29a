// A web server that others wrote, as a process of its own: started, waited for, and ended with all that it started.
import { ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from '../../support/agent.ts';
import { handedOn } from '../../support/environment.ts';

const START_LIMIT_MS = 600_000;
const STOP_LIMIT_MS = 15_000;

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers as soon as it serves. */
  readonly url: string;
}

export interface Server {
  /** The last of what it wrote, for the messages of failures. */
  said(): string;
  stop(): Promise<void>;
}

export async function startServer({ command, args, env = {}, url }: ServerProgram): Promise<Server> {
  const child = spawn(command, args, {
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

const answers = (url: string): Promise<boolean> =>
  fetch(url, { redirect: 'manual' }).then(
    async (response) => {
      await response.body?.cancel();
      return response.status < 500;
    },
    () => false,
  );

/** What a page of it says, which must be a JSON object. */
export function jsonOf({ status, url, body }: Page): Record<string, unknown> {
  ok(status === 200 && body.startsWith('{'), `${status} at ${url}: ${body}`);
  const value: unknown = JSON.parse(body);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Which guards of the code flow a client sends by itself, by where its own address leads. */
export async function guardsOf(url: string): Promise<string[]> {
  const { headers } = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
  const { searchParams } = new URL(headers.get('location') ?? '');
  return ['nonce', 'code_challenge'].filter((name) => searchParams.has(name));
}
