// Goal P11: what a request costs on a store with very many documents, by what it costs on a small one.
import type { Figure } from './figures.ts';
import { operations } from './operations.ts';
import { prepare } from './prepare.ts';
import { startProduct } from './processes.ts';
import { compare, type Pace } from './rounds.ts';

const MEASURED = ['P1', 'P2', 'P3', 'P6'];

export interface Folders {
  /** Data folders of the product, filled before. */
  readonly small: string;
  readonly large: string;
}

/** @returns CPU per request on the large store by that on the small one, for each operation that asks the store */
export async function growth({ small, large }: Folders, pace: Pace): Promise<Figure[]> {
  const one = await startProduct({ data: small });
  const other = await startProduct({ data: large });
  try {
    const [few, many] = [await prepare(one), await prepare(other)];
    const figures: Figure[] = [];
    for (const { goal, name, requests } of operations) {
      if (!MEASURED.includes(goal)) continue;
      const { cpu, cpuMicros } = await compare(
        { server: one, requests: (ms) => requests(few, ms, pace.connections) },
        { server: other, requests: (ms) => requests(many, ms, pace.connections) },
        pace,
      );
      figures.push({
        goal: 'P11',
        name: `${name}, CPU on a large store`,
        unit: 'times',
        value: cpu.middle,
        quartiles: cpu,
        limit: 1.2,
        wanted: 'less',
        more: { small_cpu_micros: cpuMicros },
      });
    }
    return figures;
  } finally {
    await Promise.all([one.stop(), other.stop()]);
  }
}
