// Loaded into each test process (scripts/check.sh). A process that still has something open a minute after its last test is
// ended as a failure that says what. Not `--test-force-exit`: it ends at once, and reports that are not yet written are lost.
import process from 'node:process';
import { after } from 'node:test';

const PATIENCE_MS = 60_000;

function endAsFailure(): void {
  const open = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
  process.stderr.write(`still open after the last test: ${open.join(', ')}\n`);
  process.exit(1);
}

// The runner loads this, too; only the processes that it starts have tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    setTimeout(endAsFailure, PATIENCE_MS).unref();
  });
  // Everything is written by now. Without this, Node 24 closes what is left of handles first, and does so for ever (a busy
  // loop) where one of them is a socket whose reset failed.
  process.once('exit', () => process.exit());
}
