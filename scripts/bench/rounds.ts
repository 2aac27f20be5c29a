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

/** What each side did, in their order. */
type Round = readonly Measured[];
const othersIn = (round: Round): number => Math.max(...round.map(({ others }) => others));

/** Each round measures one after the other, and the next begins with the last one. */
async function rounds(sides: readonly Side[], pace: Pace): Promise<Round[]> {
  const measured: Round[] = [];
  const isQuiet = (round: Round): boolean => othersIn(round) <= QUIET;
  while (measured.filter(isQuiet).length < pace.rounds && measured.length < pace.rounds * ATTEMPTS) {
    const isForward = measured.length % 2 === 0;
    const round: Measured[] = [];
    for (const side of isForward ? sides : sides.toReversed()) round.push(await measure(side, pace));
    measured.push(isForward ? round : round.toReversed());
  }
  return measured.toSorted((a, b) => othersIn(a) - othersIn(b)).slice(0, pace.rounds);
}

/** @returns the first beside each of the others, all of which took turns */
export async function compareWithEach(first: Side, others: readonly Side[], pace: Pace): Promise<Compared[]> {
  const settled: boolean[] = [];
  for (const side of [...others, first]) settled.push(await warmUp(side, pace));
  const taken = await rounds([first, ...others], pace);
  return others.map((_, index) => {
    const pairs = taken.flatMap(([one, ...rest]) => {
      const other = rest[index];
      // None where its values have run out.
      return one && other && other.perSecond > 0 ? [{ one, other }] : [];
    });
    const middle = (pick: (one: Measured) => number): number =>
      spreadOf(pairs.map(({ one }) => pick(one))).middle;
    return {
      rate: spreadOf(pairs.map(({ one, other }) => one.perSecond / other.perSecond)),
      cpu: spreadOf(pairs.map(({ one, other }) => other.cpuMicros / one.cpuMicros)),
      perSecond: middle(({ perSecond }) => perSecond),
      cpuMicros: middle(({ cpuMicros }) => cpuMicros),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      isSettled: settled.every(Boolean),
      others: Math.max(...taken.map(othersIn)),
    };
  });
}

export async function compare(first: Side, second: Side, pace: Pace): Promise<Compared> {
  const [compared] = await compareWithEach(first, [second], pace);
  if (compared === undefined) throw new TypeError('there is no second');
  return compared;
}
