// A large file that is made ready for this version: for a million documents it takes minutes, in which the process does nothing
// else. The operator is told before, now and then (at a terminal all the time), and at the end, and can stop it: nothing is written
// before all of it is.
export interface UpgradeLog {
  /** Written at once, which lines of less weight are not. */
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** A terminal, where one line keeps itself up to date. */
export interface UpgradeLine {
  /** @param total 0, as `done` is: how far it is cannot be said */
  update(what: string, done: number, total: number): void;
  /** Takes the line away. */
  end(): void;
}

/** Whom to tell. */
export interface UpgradeTold {
  readonly log?: UpgradeLog | undefined;
  /** Only where there is a terminal: what it shows is in no log. */
  readonly line?: UpgradeLine | undefined;
}

export interface Upgrade {
  /** A table with that many rows is next. */
  begin(table: string, rows: number): void;
  /** What is done to it now, and the how manieth of how many it is. */
  step(what: string, at?: number, of?: number): void;
  /** Rows of that table for which the step is done. */
  reach(done: number): void;
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

const count = (value: number): string => value.toLocaleString('en');

/** Lines of a log: what is done, and now and then how far it is. */
function createLines(tell: (text: string) => void) {
  let toldAt = performance.now();
  let [step, since] = ['', toldAt];
  const say = (text: string): void => {
    toldAt = performance.now();
    tell(text);
  };
  return {
    step(table: string, what: string): void {
      if (what === step) return;
      [step, since] = [what, performance.now()];
      say(`${table}: ${what}`);
    },
    reach({ table, rows }: { table: string; rows: number }, done: number): void {
      const at = performance.now();
      if (at - toldAt < NOW_AND_THEN_MS) return;
      const left = Math.max(Math.ceil((((at - since) / done) * (rows - done)) / 1_000), 1);
      say(`${table}: ${count(done)} of ${count(rows)} documents are ready, ${left} s left for these`);
    },
  };
}

export function watchUpgrade({ log, line }: UpgradeTold): Upgrade {
  const startedAt = performance.now();
  let takeSignals: (() => void) | undefined;
  let current = { table: '', rows: 0, what: '' };

  const tell = (text: string): void => {
    takeSignals ??= giveSignalsBack();
    line?.end();
    log?.warn({}, text);
  };
  let lines = createLines(tell);

  return {
    begin(table, rows) {
      current = { table, rows, what: '' };
      lines = createLines(tell);
      if (rows < LARGE) return;
      const documents = `${table}, ${count(rows)} documents`;
      if (takeSignals !== undefined) tell(`making the database ready for this version: ${documents}`);
      else
        tell(
          `making the database ready for this version, once: ${documents}. Nobody is served until then. ` +
            'Stopping it leaves the database as it was, and the next start begins again.',
        );
    },
    step(what, at = 0, of = 1) {
      current.what = what;
      if (current.rows < LARGE) return;
      if (line === undefined) lines.step(current.table, what);
      else line.update(`${current.table}: ${what}${of > 1 ? `, ${at + 1} of ${of}` : ''}`, 0, 0);
    },
    reach(done) {
      const { table, rows, what } = current;
      if (rows < LARGE) return;
      if (line === undefined) lines.reach(current, done);
      else line.update(`${table}: ${what}`, Math.min(done, rows), rows);
    },
    wait() {
      tell('waiting for another process, which makes the database ready for this version or writes to it');
    },
    end() {
      if (takeSignals === undefined) return;
      takeSignals();
      line?.end();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      log?.info({}, `the database is ready for this version (${seconds} s)`);
    },
  };
}
