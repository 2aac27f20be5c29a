// Where log lines go. What one turn of the event loop logs is one write: a system call for each request's line would be a tenth of
// what the busiest requests cost. Warnings, errors and the end of the process wait for nothing.

export interface LogLines {
  write(line: string): void;
  /** pino calls it before a fatal line ends the process. */
  flushSync(): void;
}

const INFO = '{"level":"info"';
/** A turn that logs more than this writes in between. */
const MAX_KEPT = 64 * 1024;

/** As a JSON line of ours begins (log.ts). */
const canWait = (line: string): boolean => line.startsWith(INFO);

/** @param write writes all of the text */
export function createLogLines(write: (text: string) => void): LogLines {
  let kept = '';
  let isPlanned = false;

  function flushSync(): void {
    if (kept === '') return;
    const text = kept;
    kept = '';
    write(text);
  }

  function flushPlanned(): void {
    isPlanned = false;
    flushSync();
  }

  process.once('exit', flushSync);
  return {
    flushSync,
    write(line) {
      kept += line;
      if (!canWait(line) || kept.length > MAX_KEPT) flushSync();
      else if (!isPlanned) {
        isPlanned = true;
        setImmediate(flushPlanned);
      }
    },
  };
}
