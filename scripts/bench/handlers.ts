// `--handlers`: what a request takes with the handlers of src/oidc/plain/ by what it takes without them, in turns. On the embedded
// database, and on those that MONGODB_TEST_URI and REDIS_TEST_URL name.
import type { Figure } from './figures.ts';
import { operations } from './operations.ts';
import { prepare } from './prepare.ts';
import { elsewhere, type ProductOptions, startProduct } from './processes.ts';
import { compare, type Pace, type Side } from './rounds.ts';

/** What gains less is not worth a second way. */
const WORTH = 0.85;
const ANSWERED = ['P1', 'P2', 'P3', 'P6'];

async function* gainsOn(
  where: string,
  optionsOf: () => ProductOptions,
  pace: Pace,
  only: string,
): AsyncGenerator<Figure> {
  const start = async (answers: 'on' | 'off') => {
    const { env, ...options } = optionsOf();
    const product = await startProduct({ ...options, env: { ...env, PLAIN_ANSWERS: answers } });
    return { product, prepared: await prepare(product) };
  };
  const [one, other] = [await start('on'), await start('off')];
  try {
    for (const { goal, name, requests } of operations) {
      if (!ANSWERED.includes(goal) || !`${goal} ${name}`.includes(only)) continue;
      const sideOf = ({ product, prepared }: typeof one): Side => ({
        server: product,
        requests: (ms) => requests(prepared, ms, pace.connections),
      });
      const { cpu, cpuMicros, others, isSettled } = await compare(sideOf(other), sideOf(one), pace);
      yield {
        goal,
        name: `${name} ${where}, with its handler by without`,
        unit: 'of the CPU',
        value: cpu.middle,
        quartiles: cpu,
        limit: WORTH,
        wanted: 'less',
        more: { without_micros: cpuMicros, others, ...(!isSettled && { warm_up: 'not settled' }) },
      };
    }
  } finally {
    await Promise.all([one.product.stop(), other.product.stop()]);
  }
}

export async function* gainOfHandlers(pace: Pace, only = ''): AsyncGenerator<Figure> {
  yield* gainsOn('on SQLite', () => ({}), pace, only);
  const where = elsewhere()?.where;
  if (where !== undefined) yield* gainsOn(where, () => elsewhere() ?? {}, pace, only);
}
