// The thread that reads a finished backup once from end to end: whether it is whole, and what is in it.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { BackupResult } from './backup.ts';

function check(file: string): BackupResult {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const [problem] = copy.prepare('PRAGMA integrity_check').all();
    if (problem?.integrity_check !== 'ok') throw new Error(String(problem?.integrity_check));
    // Tables derived from a collection's table are named <table>__<suffix>.
    const tables = copy
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND instr(name, '__') = 0 ORDER BY name`)
      .all();
    const count = (name: string): number =>
      Number(copy.prepare(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`).get()?.n);
    return { documents: Object.fromEntries(tables.map(({ name }) => [String(name), count(String(name))])) };
  } finally {
    copy.close();
  }
}

parentPort?.postMessage(check(String(workerData)));
