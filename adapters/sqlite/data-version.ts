// Whether another connection has committed (PRAGMA data_version), asked once in each turn of the event loop. What runs in one turn,
// from a callback of the loop to the end of its promises, reads no socket: every request in it had arrived before, so a commit
// that was acknowledged before a request began is always seen by it.
import type { StatementSync } from 'node:sqlite';

/** @returns a number that differs when another connection has committed. @throws as SQLite does while the file is locked */
export type DataVersion = () => number;

/** @param pragma the prepared `PRAGMA data_version` */
export function createDataVersion(pragma: Pick<StatementSync, 'get'>): DataVersion {
  let known: number | undefined;
  // Runs when no promise is left to continue, before the loop's next callback.
  const forget = (): void => {
    known = undefined;
  };
  return () => {
    if (known === undefined) {
      known = Number(pragma.get()?.data_version);
      process.nextTick(forget);
    }
    return known;
  };
}
