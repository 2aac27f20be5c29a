// Goal P10: how soon a new process answers, and how much memory it holds: idle, after sign-ins, after load.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from './connection.ts';
import { type Figure, quantile } from './figures.ts';
import { operations } from './operations.ts';
import { prepare } from './prepare.ts';
import { startProduct } from './processes.ts';
import { measure, type Pace } from './rounds.ts';

const STARTS = 5;
const SIGN_INS = 10;
/** Until what starts beside the first answer is over. */
const IDLE_MS = 2000;

/** From the start of the program to its first 200 at /healthz, the wrapper script included. */
async function startOnce(data: string): Promise<{ ms: number; idleMib: number }> {
  const startedAt = performance.now();
  const product = await startProduct({ data, isFree: true });
  const { ok } = await fetch(`${product.url}/healthz`);
  const ms = performance.now() - startedAt;
  if (!ok) throw new Error('/healthz does not answer');
  await sleep(IDLE_MS);
  const idleMib = product.residentMib();
  await product.stop();
  return { ms, idleMib };
}

const memory = (name: string, value: number, limit: number): Figure => ({
  goal: 'P10',
  name,
  unit: 'MiB',
  value,
  limit,
  wanted: 'less',
});

async function loaded(pace: Pace, env: Record<string, string>): Promise<{ some: number; all: number }> {
  const product = await startProduct({ env, isFree: env.WEB_CONCURRENCY !== undefined });
  try {
    const prepared = await prepare(product);
    for (let count = 0; count < SIGN_INS; count += 1) await signIn(product.port, prepared);
    const some = product.residentMib();
    for (const { requests } of operations)
      await measure(
        { server: product, requests: (ms) => requests(prepared, ms, pace.connections) },
        { ...pace, ms: pace.ms * 4 },
      );
    return { some, all: product.residentMib() };
  } finally {
    await product.stop();
  }
}

export async function startAndMemory(pace: Pace): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
  // Creates the tables and the signing key, which happens once.
  const first = await startOnce(data);
  const starts: { ms: number; idleMib: number }[] = [];
  while (starts.length < STARTS) starts.push(await startOnce(data));
  rmSync(data, { recursive: true });
  const one = await loaded(pace, {});
  const two = await loaded(pace, { WEB_CONCURRENCY: '2' });
  const middle = (values: readonly number[]): number => quantile(values, 0.5);
  return [
    {
      goal: 'P10',
      name: 'ready, on a store that exists',
      unit: 'ms',
      value: middle(starts.map(({ ms }) => ms)),
      limit: 300,
      wanted: 'less',
      more: { new_store_ms: first.ms },
    },
    memory('resident, idle', middle(starts.map(({ idleMib }) => idleMib)), 110),
    memory(`resident after ${SIGN_INS} sign-ins`, one.some, 150),
    memory('resident after load', one.all, 190),
    memory('resident after load, two workers and their primary', two.all, 450),
  ];
}
