// A person who pressed Ctrl-C and sees nothing happen is told what a stop waits for, and how not to wait.
import type { Logger } from '../log.ts';

const WONDER_MS = 1_000;

/**
 * Only in a terminal: a log has nobody who presses a key.
 * @param waitsFor asked when the time comes
 * @returns for once the stop is over
 */
export function tellWaiting(log: Pick<Logger, 'info'>, reason: string, waitsFor: () => string): () => void {
  if (reason !== 'SIGINT' || process.stdout.isTTY !== true) return () => undefined;
  const timer = setTimeout(
    () => log.info(`waiting for ${waitsFor()}; Ctrl-C again stops at once, and what was answered is stored`),
    WONDER_MS,
  );
  return () => clearTimeout(timer);
}
