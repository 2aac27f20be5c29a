// What the SQLite tests share: a directory of their own, child processes that write to a store, and their collection.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CollectionDefinition } from '../../src/store/port.ts';

export interface Note {
  id: string;
  text: string;
  tag?: string;
  count?: number;
}

export const notes: CollectionDefinition<Note> = {
  name: 'notes',
  durability: 'durable',
  indexes: { id: { unique: true, key: (note) => note.id }, tag: { key: (note) => note.tag } },
  fields: { count: { type: 'number', of: (note) => note.count } },
};

/** What goes with a note. */
export const gifts: CollectionDefinition<Note> = {
  ...notes,
  name: 'gifts',
  durability: 'ephemeral',
  fields: {},
};

/** The text that belongs to a note at a version: long enough to span pages, so that a torn write would show. */
export const textOf = (id: string, version: number): string => `${id}@${version};`.repeat(150);

/** Whether the child that churns removes this note at the end; their ids end in a running number. */
export const isToBeRemoved = (id: string): boolean => Number(id.split('-').at(-1)) % 3 === 0;

export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'latchkey-store-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export interface Child {
  readonly pid: number;
  /** Everything it has printed so far, line by line. */
  readonly lines: readonly string[];
  /** Resolves at its first line that starts so. */
  said(start: string): Promise<string>;
  tell(line: string): void;
  kill(): void;
  /** Resolves when it has ended and all it printed is in `lines`. @throws when it ended badly, but not of `kill` */
  ended(): Promise<void>;
}

const program = fileURLToPath(new URL('sqlite-child.ts', import.meta.url));

/**
 * @param before what starts Node, if not the test itself: `['sh', '-c', 'ulimit …; exec "$@"', 'sh']`
 * @param script what runs, if not the child of the SQLite tests
 */
export function startChild(
  args: readonly string[],
  before: readonly string[] = [],
  script: string = program,
): Child {
  const [command = process.execPath, ...rest] = [...before, process.execPath, script, ...args];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const finished = Promise.all([once(child, 'exit'), once(reader, 'close')]);

  return {
    pid: child.pid ?? 0,
    lines,
    async said(start) {
      for (;;) {
        const found = lines.find((line) => line.startsWith(start));
        if (found !== undefined) return found;
        const isOver = await Promise.race([once(reader, 'line'), finished.then(() => true)]);
        const isSaid = lines.some((line) => line.startsWith(start));
        if (isOver === true && !isSaid)
          throw new Error(`ended without saying ${start}: ${lines.join(' | ')}`);
      }
    },
    tell: (line) => child.stdin.write(`${line}\n`),
    kill: () => child.kill('SIGKILL'),
    async ended() {
      await finished;
      if (child.exitCode !== 0 && child.signalCode !== 'SIGKILL') {
        throw new Error(`child ended with ${child.exitCode ?? child.signalCode}: ${lines.join(' | ')}`);
      }
    },
  };
}
