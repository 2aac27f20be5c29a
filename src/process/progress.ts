// Long work in words: in a terminal one line that keeps itself up to date (what is done, how fast, how long still), elsewhere a
// line now and then. And Ctrl-C: the work stops where everything is whole, and says so.
import { setImmediate as afterEvents } from 'node:timers/promises';

const TERMINAL_MS = 100;
const LOG_MS = 10_000;
/** What takes long before it tells anything new: in between, time goes on. */
const HEARTBEAT_MS = 1_000;
/** Before that a speed says nothing. */
const MEASURED_MS = 1_000;
/** The speed is that of the last while: what a continued run skips goes by much faster than what it then does. */
const WINDOW_MS = 30_000;
/** npm and shells forward the same signal again; only a clearly later one is a second one. */
const REPEATED_MS = 1_000;
const CLEAR_LINE = '\r\u001b[K';

interface Out {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

interface Options {
  /** What is counted: `documents`, `pages`. */
  readonly unit: string;
  readonly out?: Out;
  /** Milliseconds that only ever grow. */
  readonly now?: () => number;
}

export interface Progress {
  /** @param total 0: unknown; with `done` 0, too, only what it does is shown */
  update(what: string, done: number, total: number): void;
  /** Text that stays, above the line. */
  say(text: string): void;
  /** Takes the line away. */
  end(): void;
}

const numberOf = (value: number): string => Math.round(value).toLocaleString('en');

export function durationOf(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 1);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

interface Reached {
  readonly done: number;
  readonly total: number;
  readonly at: number;
}

interface Step extends Reached {
  readonly what: string;
  readonly startedAt: number;
  /** Where it was and when, oldest first: the beginning, or one point before the window and all within it. */
  readonly points: Omit<Reached, 'total'>[];
}

/** Remembers a point of it every second, as far back as the window. */
function goOn({ points, ...step }: Step, reached: Reached): Step {
  const { at, done } = reached;
  while ((points[1]?.at ?? at) < at - WINDOW_MS) points.shift();
  if (at - (points.at(-1)?.at ?? at) >= MEASURED_MS) points.push({ at, done });
  return { ...step, ...reached, points };
}

/** @returns documents per millisecond over the last while; undefined before anything can be said */
function speedOf({ points, done, at }: Step, until = at): number | undefined {
  const [oldest] = points;
  if (oldest === undefined || at - oldest.at < MEASURED_MS || done <= oldest.done) return undefined;
  return (done - oldest.done) / (until - oldest.at);
}

/** Since it was told how far it is, the time that is left has grown shorter; once it is over, the speed is less than it was. */
function leftOf(step: Step, perMs: number, now: number): number {
  const left = (step.total - step.done) / perMs - (now - step.at);
  return left > 0 ? left : (step.total - step.done) / (speedOf(step, now) ?? perMs);
}

function textOf(step: Step, unit: string, now: number): string {
  const { what, done, total } = step;
  if (done === 0 && total === 0) {
    const elapsed = now - step.startedAt;
    return elapsed < MEASURED_MS ? `${what} …` : `${what} … ${durationOf(elapsed)} so far`;
  }
  const share = total > 0 ? ` of ${numberOf(total)} (${Math.floor((done / total) * 100)} %)` : '';
  const text = `${what}: ${numberOf(done)}${share} ${unit}`;
  const perMs = speedOf(step);
  if (perMs === undefined) {
    const elapsed = now - step.at;
    return elapsed < MEASURED_MS ? text : `${text}, for ${durationOf(elapsed)}`;
  }
  const speed = `${text}, ${numberOf(perMs * 1_000)} a second`;
  return total > done ? `${speed}, ${durationOf(leftOf(step, perMs, now))} left` : speed;
}

export function createProgress({
  unit,
  out = process.stdout,
  now = () => performance.now(),
}: Options): Progress {
  const isTerminal = out.isTTY === true;
  let step: Step | undefined;
  let isShown = false;
  let lastAt = now();
  let heartbeat: NodeJS.Timeout | undefined;

  const clear = (): void => {
    if (isShown) out.write(CLEAR_LINE);
    isShown = false;
  };
  const show = (at: number): void => {
    if (step === undefined) return;
    lastAt = at;
    const text = textOf(step, unit, at);
    out.write(isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
    isShown = isTerminal;
  };
  const beat = (): void => {
    const at = now();
    if (at - lastAt >= (isTerminal ? HEARTBEAT_MS : LOG_MS)) show(at);
  };

  return {
    update(what, done, total) {
      const at = now();
      const isNew = step?.what !== what;
      if (step === undefined || isNew)
        step = { what, done, total, at, startedAt: at, points: [{ at, done }] };
      // What only repeats itself is no new point in time.
      else if (done !== step.done || total !== step.total) step = goOn(step, { done, total, at });
      heartbeat ??= setInterval(beat, HEARTBEAT_MS / 4).unref();
      // A terminal shows at once that something else has begun.
      if (!(isNew && isTerminal) && at - lastAt < (isTerminal ? TERMINAL_MS : LOG_MS)) return;
      show(at);
    },
    say(text) {
      clear();
      out.write(`${text}\n`);
      // What still goes on is below it again at the next beat.
      lastAt = now();
    },
    end() {
      clearInterval(heartbeat);
      heartbeat = undefined;
      step = undefined;
      clear();
    },
  };
}

/** As a shell reports a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** The work was stopped by the person; the message says what is whole and how to continue. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/**
 * Waits for what cannot be stopped and changes nothing, such as a database that does not answer.
 * @param message says what is whole and how to continue
 * @throws Interrupted at Ctrl-C; what was waited for is left alone
 */
export async function unlessStopped<T>(
  waiting: Promise<T>,
  signal: AbortSignal,
  message: string,
): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(new Interrupted(message));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const result = await Promise.race([waiting, stopped.promise]);
    // A key that was pressed while the process did nothing but load its program.
    await afterEvents();
    if (signal.aborted) throw new Interrupted(message);
    return result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export interface Stopping {
  readonly signal: AbortSignal;
  /** Gives the signals back to the system. */
  release(): void;
}

/**
 * At the first Ctrl-C (or SIGTERM) the signal is aborted, at the second the program ends at once, which is safe, too: what was
 * written stays whole.
 */
export function stopOnSignals(say: (text: string) => void): Stopping {
  const controller = new AbortController();
  let firstAt = 0;
  const stop = (): void => {
    if (controller.signal.aborted) {
      if (performance.now() - firstAt > REPEATED_MS) process.exit(INTERRUPTED);
      return;
    }
    firstAt = performance.now();
    say('Stopping after this step. Ctrl-C again stops at once.');
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
