// An operation and its lower bound in short alternating rounds of one run, so that the noise of the machine affects both alike. Not
// before both are warm: rates of a new process double within seconds.
import { type Spread, spreadOf } from './figures.ts';
import { load, type NextRequest } from './http-load.ts';
import type { Server } from './processes.ts';

export interface Pace {
  readonly rounds: number;
  /** Of a round, in milliseconds. */
  readonly ms: number;
  readonly connections: number;
  /** For this long at most a server is warmed up. */
  readonly warmUpMs: number;
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
}

/** @throws Error on the first response that is no success */
export async function measure(
  { server, requests }: Side,
  ms: number,
  connections: number,
): Promise<Measured> {
  const next = await requests(ms);
  const before = server.cpuMicros();
  const { requests: count, seconds, latencies } = await load(server, { connections, ms, next });
  const at = (q: number): number => latencies[Math.floor(latencies.length * q)] ?? Number.NaN;
  return {
    perSecond: count / seconds,
    cpuMicros: (server.cpuMicros() - before) / count,
    p50: at(0.5),
    p99: at(0.99),
  };
}

const WINDOW_MS = 700;
const AGREED = 0.03;

/** @returns whether three windows in a row lay within 3 %, before the time was over */
export async function warmUp(side: Side, { connections, warmUpMs }: Pace): Promise<boolean> {
  const rates: number[] = [];
  for (const endsAt = performance.now() + warmUpMs; performance.now() < endsAt; ) {
    rates.push((await measure(side, WINDOW_MS, connections)).perSecond);
    const last = rates.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) <= AGREED * Math.max(...last)) return true;
  }
  return false;
}

/** Each round measures one after the other, and the next begins with the other one. */
export async function compare(first: Side, second: Side, pace: Pace): Promise<Compared> {
  const settled = [await warmUp(second, pace), await warmUp(first, pace)];
  const rounds: { one: Measured; other: Measured }[] = [];
  for (let round = 0; round < pace.rounds; round += 1) {
    const run = (side: Side) => measure(side, pace.ms, pace.connections);
    if (round % 2 === 0) rounds.push({ one: await run(first), other: await run(second) });
    else {
      const other = await run(second);
      rounds.push({ one: await run(first), other });
    }
  }
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
  };
}
