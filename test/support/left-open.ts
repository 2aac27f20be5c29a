// Loaded into each test process (scripts/check.sh). A process that still has something open two minutes after its last test is
// ended as a failure that says what. Not `--test-force-exit`: it ends at once, and reports that are not yet written are lost.
// Not after() either: the runner calls the hooks of a file as soon as the tests that it knows by then are over.
import { subscribe } from 'node:diagnostics_channel';
import process from 'node:process';

const PATIENCE_MS = 120_000;

function endAsFailure(): void {
  const open = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
  process.stderr.write(`still open after the last test: ${open.join(', ')}\n`);
  process.exit(1);
}

// The runner loads this, too; only the processes that it starts have tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  let running = 0;
  let end: NodeJS.Timeout | undefined;
  subscribe('tracing:node.test:start', () => {
    running += 1;
    clearTimeout(end);
  });
  subscribe('tracing:node.test:end', () => {
    running -= 1;
    if (running === 0) end = setTimeout(endAsFailure, PATIENCE_MS).unref();
  });
  // Everything is written by now. Without this, Node 24 closes what is left of handles first, and does so for ever (a busy
  // loop) where one of them is a socket whose reset failed.
  process.once('exit', () => process.exit());
}
