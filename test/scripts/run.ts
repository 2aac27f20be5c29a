// Runs one of the project's programs to its end, as at a terminal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { handedOn } from '../support/environment.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Input {
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; nothing by default. */
  readonly stdin?: string;
  /** When it is ended. */
  readonly timeoutMs?: number;
}

export async function run(
  file: string,
  args: readonly string[],
  { env = {}, stdin = '', timeoutMs = 60_000 }: Input = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    // Nothing of the tests' own environment.
    env: { ...handedOn(), ...env },
    timeout: timeoutMs,
  });
  // A program that does not read its input may be gone before all of it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  if (signal !== null)
    throw new Error(`${file} was ended by ${signal}: ${stdout.slice(-500)}${stderr.slice(-500)}`);
  return { code: Number(code), stdout, stderr };
}
