// An operation and its lower bound in short alternating rounds of one run, so that the noise of the machine affects both alike. Not
// before both are warm: rates of a new process double within seconds. Rounds in which other programs worked are measured again.
import { availableParallelism } from 'node:os';
import { type Spread, spreadOf } from './figures.ts';
import { load, type NextRequest } from './http-load.ts';
import { cpuMicrosOf, machineMicros, type Server } from './processes.ts';

export interface Pace {
  readonly rounds: number;
  /** Of a round, in milliseconds. */
  readonly ms: number;
  readonly connections: number;
  /** For this long at most a server is warmed up. */
  readonly warmUpMs: number;
  /** Processes that work for what is measured, a database for example: no other programs. */
  readonly besides?: readonly number[];
}

/** Called for each round; may prepare codes and tokens for `ms` first. */
export type Requests = (ms: number) => Promise<NextRequest> | NextRequest;

export interface Side {
  readonly server: Server;
  readonly requests: Requests;
}

interface Measured {
  readonly perSecond: number;
  /** Of all its threads, per request. */
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  /** What other programs took, as a share of the machine. */
  readonly others: number;
}

export interface Compared {
  /** Throughput of the first by that of the second, round by round. */
  readonly rate: Spread;
  /** CPU of the second by that of the first: steadier where the machine is shared. */
  readonly cpu: Spread;
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  /** Whether three windows agreed before the first round. */
  readonly isSettled: boolean;
  /** The most that other programs took of the machine in a round that counts. */
  readonly others: number;
}

/** @throws Error on the first response that is no success */
export async function measure(
  { server, requests }: Side,
  { ms, connections, besides = [] }: Pick<Pace, 'ms' | 'connections' | 'besides'>,
): Promise<Measured> {
  const next = await requests(ms);
  const used = () => {
    const { user, system } = process.cpuUsage();
    const own = server.cpuMicros();
    return { own, others: machineMicros() - own - user - system - cpuMicrosOf(besides) };
  };
  const before = used();
  const { requests: count, seconds, latencies } = await load(server, { connections, ms, next });
  const after = used();
  const at = (q: number): number => latencies[Math.floor(latencies.length * q)] ?? Number.NaN;
  return {
    perSecond: count / seconds,
    cpuMicros: (after.own - before.own) / count,
    p50: at(0.5),
    p99: at(0.99),
    others: (after.others - before.others) / (seconds * 1e6 * availableParallelism()),
  };
}

const WINDOW_MS = 700;
const AGREED = 0.03;

/** @returns whether three windows in a row lay within 3 %, before the time was over */
export async function warmUp(side: Side, { connections, warmUpMs }: Pace): Promise<boolean> {
  const rates: number[] = [];
  for (const endsAt = performance.now() + warmUpMs; performance.now() < endsAt; ) {
    rates.push((await measure(side, { ms: WINDOW_MS, connections })).perSecond);
    const last = rates.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) <= AGREED * Math.max(...last)) return true;
  }
  return false;
}

/** More than this of the machine, and a round is measured again, */
const QUIET = 0.03;
/** so often at most; then the quietest ones count. */
const ATTEMPTS = 2;

interface Round {
  readonly one: Measured;
  readonly other: Measured;
}
const othersIn = ({ one, other }: Round): number => Math.max(one.others, other.others);

/** Each round measures one after the other, and the next begins with the other one. */
export async function compare(first: Side, second: Side, pace: Pace): Promise<Compared> {
  const settled = [await warmUp(second, pace), await warmUp(first, pace)];
  const measured: Round[] = [];
  const isQuiet = (round: Round): boolean => othersIn(round) <= QUIET;
  while (measured.filter(isQuiet).length < pace.rounds && measured.length < pace.rounds * ATTEMPTS) {
    if (measured.length % 2 === 0)
      measured.push({ one: await measure(first, pace), other: await measure(second, pace) });
    else {
      const other = await measure(second, pace);
      measured.push({ one: await measure(first, pace), other });
    }
  }
  const rounds = measured.toSorted((a, b) => othersIn(a) - othersIn(b)).slice(0, pace.rounds);
  const middle = (pick: (one: Measured) => number): number =>
    spreadOf(rounds.map(({ one }) => pick(one))).middle;
  return {
    rate: spreadOf(rounds.map(({ one, other }) => one.perSecond / other.perSecond)),
    cpu: spreadOf(rounds.map(({ one, other }) => other.cpuMicros / one.cpuMicros)),
    perSecond: middle(({ perSecond }) => perSecond),
    cpuMicros: middle(({ cpuMicros }) => cpuMicros),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    isSettled: settled.every(Boolean),
    others: Math.max(...rounds.map(othersIn)),
  };
}
