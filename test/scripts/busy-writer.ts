// A process that writes to a database fifty times a second until it is told to stop, each time to its first and its last row.
import { DatabaseSync } from 'node:sqlite';

const PER_SECOND = 50;

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 10_000 });
database.exec('PRAGMA synchronous = FULL');
const rows = database.prepare('SELECT min(rowid) AS first, max(rowid) AS last FROM notes').get();
const write = database.prepare('UPDATE notes SET version = version + 1 WHERE rowid IN (?, ?)');
let [writes, slowestMs] = [0, 0];
const timer = setInterval(() => {
  const startedAt = performance.now();
  write.run(Number(rows?.first), Number(rows?.last));
  writes += 1;
  slowestMs = Math.max(slowestMs, performance.now() - startedAt);
}, 1_000 / PER_SECOND);

process.on('message', () => {
  clearInterval(timer);
  process.send?.({ writes, slowestMs });
});
process.on('disconnect', () => process.exit());
process.send?.('writing');
