// Goals P7 and P8: what a whole sign-in with a password costs beside its hash, and what tokens wait while many people sign in.
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, signIn } from './connection.ts';
import { type Figure, quantile, spreadOf } from './figures.ts';
import { requestBytes } from './http-load.ts';
import { always } from './operations.ts';
import type { Prepared } from './prepare.ts';
import type { Server } from './processes.ts';
import { measure, type Pace } from './rounds.ts';

const HASH = always(requestBytes('GET', '/hash', {}));
const STORM = 16;
/** Between two token requests of one connection: other applications, not a second storm. */
const THINK_MS = 5;

interface Run {
  readonly count: number;
  readonly cpuMicros: number;
  readonly perSecond: number;
}

/** Whole sign-ins, that many at once, each as a new browser. */
export async function signInsFor(
  server: Server,
  prepared: Prepared,
  ms: number,
  atOnce: number,
): Promise<Run> {
  const [startedAt, before] = [performance.now(), server.cpuMicros()];
  let count = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < startedAt + ms) {
        await signIn(server.port, prepared);
        count += 1;
      }
    }),
  );
  const perSecond = (count / (performance.now() - startedAt)) * 1000;
  return { count, cpuMicros: (server.cpuMicros() - before) / count, perSecond };
}

export async function signInCost(
  server: Server,
  floor: Server,
  prepared: Prepared,
  pace: Pace,
): Promise<Figure> {
  await signInsFor(server, prepared, pace.warmUpMs / 2, 4);
  const [ratios, rates]: [number[], number[]] = [[], []];
  for (let round = 0; round < pace.rounds; round += 1) {
    const ours = await signInsFor(server, prepared, pace.ms * 2, 4);
    const hash = await measure({ server: floor, requests: () => HASH }, { ms: pace.ms, connections: 4 });
    ratios.push(ours.cpuMicros / hash.cpuMicros);
    rates.push(ours.perSecond);
  }
  return {
    goal: 'P7',
    name: 'password sign-in, by CPU of its argon2id hash',
    unit: 'times',
    value: quantile(ratios, 0.5),
    quartiles: spreadOf(ratios),
    limit: 1.25,
    wanted: 'less',
    more: { per_second: quantile(rates, 0.5) },
  };
}

/** Tokens of two connections that pause between requests. @returns latencies in milliseconds */
async function tokensUntil(server: Server, prepared: Prepared, isOver: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Authorization: prepared.basic,
  };
  await Promise.all(
    [1, 2].map(async () => {
      const connection = openConnection(server.port);
      while (!isOver()) {
        const at = performance.now();
        await connection.send('POST', '/oauth2/token', headers, 'grant_type=client_credentials');
        latencies.push(performance.now() - at);
        await sleep(THINK_MS);
      }
      connection.close();
    }),
  );
  return latencies;
}

export async function stormCost(server: Server, prepared: Prepared, pace: Pace): Promise<Figure[]> {
  const ms = pace.ms * 4;
  const idleUntil = performance.now() + ms;
  const idle = await tokensUntil(server, prepared, () => performance.now() > idleUntil);
  const alone = await signInsFor(server, prepared, ms, STORM);
  let isOver = false;
  const tokens = tokensUntil(server, prepared, () => isOver);
  const beside = await signInsFor(server, prepared, ms, STORM);
  isOver = true;
  const stormy = await tokens;
  const ratio = (q: number): number => quantile(stormy, q) / quantile(idle, q);
  const name = `while ${STORM} people sign in, by that of an idle server`;
  return [
    {
      goal: 'P8',
      name: `token p50 ${name}`,
      unit: 'times',
      value: ratio(0.5),
      limit: 4,
      wanted: 'less',
      more: { ms: quantile(stormy, 0.5), idle_ms: quantile(idle, 0.5) },
    },
    { goal: 'P8', name: `token p99 ${name}`, unit: 'times', value: ratio(0.99), limit: 10, wanted: 'less' },
    {
      goal: 'P8',
      name: 'sign-ins beside those tokens, by those alone',
      unit: 'of the rate',
      value: beside.perSecond / alone.perSecond,
      limit: 0.75,
      wanted: 'more',
      more: { per_second: beside.perSecond },
    },
  ];
}
