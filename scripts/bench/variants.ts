// Goals that compare the product with itself: P4 (a store on disk and one in memory), P9 (two workers and one), P6 (a token that is
// asked about for the first time and one that is known), and P14 (bytes of the sign-in page), which is no matter of time.
import { existsSync } from 'node:fs';
import { openConnection } from './connection.ts';
import type { Figure } from './figures.ts';
import { type Operation, opaqueTokens, operations } from './operations.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Product, startProduct } from './processes.ts';
import { compare, type Pace, type Requests, type Side } from './rounds.ts';

const MEMORY = '/dev/shm';

const of = (goal: string, part = ''): Operation => {
  const found = operations.find((operation) => operation.goal === goal && operation.name.includes(part));
  if (found === undefined) throw new Error(`no operation of ${goal}`);
  return found;
};

/** @returns nothing where the machine has no file system in memory */
export async function durability(product: Product, prepared: Prepared, pace: Pace): Promise<Figure[]> {
  if (!existsSync(MEMORY)) return [];
  const inMemory = await startProduct({ folder: MEMORY });
  try {
    const other = await prepare(inMemory);
    const { requests } = of('P3');
    const pairs: readonly [string, number, (one: Prepared) => Requests][] = [
      ['opaque machine tokens', 0.85, (one) => () => opaqueTokens(one)],
      ['refresh with rotation', 0.95, (one) => (ms) => requests(one, ms, pace.connections)],
    ];
    const figures: Figure[] = [];
    for (const [name, limit, requestsOf] of pairs) {
      const { rate, perSecond } = await compare(
        { server: product, requests: requestsOf(prepared) },
        { server: inMemory, requests: requestsOf(other) },
        pace,
      );
      figures.push({
        goal: 'P4',
        name: `${name}, store on disk by store in memory`,
        unit: 'of the rate',
        value: rate.middle,
        quartiles: rate,
        limit,
        wanted: 'more',
        more: { per_second: perSecond },
      });
    }
    return figures;
  } finally {
    await inMemory.stop();
  }
}

/** What a token costs when it is asked about for the first time: a resource server without a cache asks about each one once. */
export async function firstSight(server: Product, prepared: Prepared, pace: Pace): Promise<Figure> {
  const sideOf = (wanted: string): Side => {
    const { requests } = of('P6', wanted);
    return { server, requests: (ms) => requests(prepared, ms, pace.connections) };
  };
  const { cpu, cpuMicros, others } = await compare(
    sideOf('by a client'),
    sideOf('each token asked about once'),
    pace,
  );
  return {
    goal: 'P6',
    name: 'CPU of introspection, of a token never seen by that of a known one',
    unit: 'times',
    value: cpu.middle,
    quartiles: cpu,
    limit: 1.25,
    wanted: 'less',
    more: { known_micros: cpuMicros, others },
  };
}

/** CPU alone: throughput would need four cores. */
export async function workers(product: Product, prepared: Prepared, pace: Pace): Promise<Figure> {
  const cluster = await startProduct({ env: { WEB_CONCURRENCY: '2' } });
  try {
    const { requests } = of('P1');
    const other = await prepare(cluster);
    const { cpu } = await compare(
      { server: product, requests: (ms) => requests(prepared, ms, pace.connections) },
      { server: cluster, requests: (ms) => requests(other, ms, pace.connections) },
      pace,
    );
    return {
      goal: 'P9',
      name: 'CPU of client credentials, two workers by one',
      unit: 'times',
      value: cpu.middle,
      quartiles: cpu,
      limit: 1.1,
      wanted: 'less',
    };
  } finally {
    await cluster.stop();
  }
}

const REFERENCE = /(?:src|href)="([^"]+\.(?:js|mjs|css|svg|woff2)[^"]*)"/g;

/** As a browser without a cache that takes Brotli transfers it, heads included. */
export async function pageWeight({ port }: Product, prepared: Prepared): Promise<Figure> {
  const browser = openConnection(port);
  let bytes = 0;
  const fetchOf = async (path: string, encoding: string) => {
    const answer = await browser.send('GET', path, { Accept: 'text/html', 'Accept-Encoding': encoding });
    bytes += answer.head.length + Number(/\r\ncontent-length: (\d+)/i.exec(answer.head)?.[1] ?? 0);
    return answer;
  };
  const first = await fetchOf(prepared.authorize, 'br');
  const location = /\r\nlocation: ([^\r]*)/i.exec(first.head)?.[1] ?? '';
  const page = URL.parse(location, `http://127.0.0.1:${port}`);
  const path = page === null ? prepared.authorize : `${page.pathname}${page.search}`;
  const { body } = await browser.send('GET', path, { Accept: 'text/html' });
  await fetchOf(path, 'br');
  for (const [, reference = ''] of body.matchAll(REFERENCE)) await fetchOf(reference, 'br');
  browser.close();
  return {
    goal: 'P14',
    name: 'sign-in page with its assets, transferred',
    unit: 'kB',
    value: bytes / 1000,
    limit: 25,
    wanted: 'less',
  };
}
