// A program in a terminal of its own (util-linux `script`), as a person starts it, with real keys: \x03 is Ctrl-C.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { handedOn } from './environment.ts';

export interface TerminalProgram {
  /** Everything shown so far, with its control sequences. */
  shown(): string;
  type(keys: string): void;
  waitFor(pattern: RegExp, patienceMs?: number): Promise<void>;
  /** The exit code, once it has ended by itself. */
  readonly exited: Promise<number>;
  /** Ends the terminal, whatever runs in it. */
  close(): Promise<void>;
}

const PATIENCE_MS = 180_000;

// Built from its code, since an expression may not contain a control character.
const CONTROLS = new RegExp(`${String.fromCharCode(27)}\\[([\\d;?]*[A-Za-z])`, 'g');

/** What a reader sees, without colours. */
export const plain = (text: string): string => text.replace(CONTROLS, '').replace(/\r\n/g, '\n');

/** What stands out: the texts in bold. */
export const boldIn = (text: string): string[] =>
  [...text.replace(CONTROLS, '<$1>').matchAll(/<1m>(.*?)<22m>/g)].map(([, words = '']) => words);

export function runInTerminal(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TerminalProgram {
  const line = command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(' ');
  const child: ChildProcess = spawn(
    'sh',
    ['-c', 'exec script -qfec "$0" /dev/null', `stty cols 100; exec ${line}`],
    {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { ...handedOn(), TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += String(chunk)));
  child.stdin?.on('error', () => undefined);
  const exited = once(child, 'close').then(([code]: (number | null)[]) => code ?? -1);
  let isOver = false;
  void exited.then(() => (isOver = true));
  return {
    shown: () => text,
    type: (keys) => void child.stdin?.write(keys),
    exited,
    async waitFor(pattern, patienceMs = PATIENCE_MS) {
      const until = performance.now() + patienceMs;
      while (!pattern.test(plain(text))) {
        if (isOver || performance.now() > until) throw new Error(`${pattern} was not shown:\n${plain(text)}`);
        await sleep(10);
      }
    },
    async close() {
      if (!isOver) child.kill('SIGKILL');
      await exited;
    },
  };
}
