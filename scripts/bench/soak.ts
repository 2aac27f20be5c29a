// `--soak N`: that many mixed requests, while memory is watched. Flat means that a straight line through the samples of the second
// half rises by less than a tenth of a KiB per request.
import type { Figure } from './figures.ts';
import { load } from './http-load.ts';
import { operations } from './operations.ts';
import { prepare } from './prepare.ts';
import type { Product } from './processes.ts';
import type { Pace } from './rounds.ts';

// Short, so that the codes of a step are redeemed long before they expire, on a busy machine, too.
const STEP_MS = 1000;
/** A line through fewer says nothing. */
const MIN_POINTS = 4;
const MIXED = ['P1', 'P2', 'P3', 'P6'];

/** @returns rise by each step along x (least squares) */
function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((total, value) => total + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const above = points.reduce((total, { x, y }) => total + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((total, { x }) => total + (x - meanX) ** 2, 0);
}

/** @throws Error on the first response that is no success */
export async function soak(product: Product, count: number, pace: Pace): Promise<Figure> {
  const prepared = await prepare(product);
  const mixed = operations.filter(({ goal }) => MIXED.includes(goal));
  const points: { x: number; y: number }[] = [];
  let sent = 0;
  for (let step = 0; sent < count || points.length < MIN_POINTS; step += 1) {
    const operation = mixed[step % mixed.length];
    if (operation === undefined) break;
    const next = await operation.requests(prepared, STEP_MS, pace.connections);
    const { requests } = await load(product, { connections: pace.connections, ms: STEP_MS, next });
    sent += requests;
    if (step % mixed.length === 0) points.push({ x: sent, y: product.residentMib() * 1024 });
  }
  const later = points.slice(Math.floor(points.length / 2));
  return {
    goal: 'soak',
    name: `${sent} mixed requests without an error`,
    unit: 'KiB per request',
    value: slopeOf(later),
    limit: 0.1,
    wanted: 'less',
    more: {
      first_mib: (points[0]?.y ?? Number.NaN) / 1024,
      middle_mib: (later[0]?.y ?? Number.NaN) / 1024,
      last_mib: (points.at(-1)?.y ?? Number.NaN) / 1024,
    },
  };
}
