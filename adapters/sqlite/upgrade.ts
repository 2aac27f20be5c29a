// A large file that is made ready for this version: for a million documents it takes minutes, in which the process does nothing
// else. The operator is told before, now and then, and at the end, and can stop it: nothing is written before all of it is.
export interface UpgradeLog {
  /** Written at once, which lines of less weight are not. */
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface Upgrade {
  /** A table with that many rows is next. */
  begin(table: string, rows: number): void;
  /** Rows of that table which are done. */
  reach(done: number): void;
  /** What takes as long as it takes, such as an index. */
  step(what: string): void;
  /** Another process holds the file. */
  wait(): void;
  end(): void;
}

/** Fewer are ready before anyone wonders. */
const LARGE = 50_000;
const NOW_AND_THEN_MS = 10_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Handlers would only run afterwards: without them a signal ends the process, as it should. @returns undoes it */
function giveSignalsBack(): () => void {
  const kept = SIGNALS.map((name) => [name, process.listeners(name)] as const);
  for (const [name] of kept) process.removeAllListeners(name);
  return () => {
    for (const [name, handlers] of kept) for (const handler of handlers) process.on(name, handler);
  };
}

export function watchUpgrade(log: UpgradeLog | undefined): Upgrade {
  const startedAt = performance.now();
  let toldAt = startedAt;
  let takeSignals: (() => void) | undefined;
  let current = { table: '', rows: 0, since: startedAt };

  const tell = (text: string): void => {
    takeSignals ??= giveSignalsBack();
    toldAt = performance.now();
    log?.warn({}, text);
  };
  const count = (value: number): string => value.toLocaleString('en');

  return {
    begin(table, rows) {
      current = { table, rows, since: performance.now() };
      if (rows < LARGE) return;
      tell(
        `making the database ready for this version, once: ${table}, ${count(rows)} documents. Nobody is served until then. ` +
          'Stopping it leaves the database as it was, and the next start begins again.',
      );
    },
    reach(done) {
      const { table, rows, since } = current;
      const at = performance.now();
      if (rows < LARGE || at - toldAt < NOW_AND_THEN_MS) return;
      const left = Math.ceil((((at - since) / done) * (rows - done)) / 1_000);
      tell(
        `${table}: ${count(done)} of ${count(rows)} documents are ready, ${Math.max(left, 1)} s left for these`,
      );
    },
    step(what) {
      current = { ...current, since: performance.now() };
      if (current.rows >= LARGE) tell(`${current.table}: ${what}`);
    },
    wait() {
      tell('waiting for another process, which makes the database ready for this version or writes to it');
    },
    end() {
      if (takeSignals === undefined) return;
      takeSignals();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      log?.info({}, `the database is ready for this version (${seconds} s)`);
    },
  };
}
