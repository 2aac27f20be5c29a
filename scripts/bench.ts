// `npm run bench`: the goals of docs/performance.md, measured on the machine it runs on, each beside its physical limit.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type Figure, isMet, lineOf } from './bench/figures.ts';
import { gainOfHandlers } from './bench/handlers.ts';
import { always, operations } from './bench/operations.ts';
import { compareWith, readOthers } from './bench/others.ts';
import { type Prepared, prepare } from './bench/prepare.ts';
import {
  elsewhere,
  isPinned,
  type Product,
  type Server,
  startFloor,
  startProduct,
} from './bench/processes.ts';
import { profileOperation } from './bench/profile.ts';
import { compare, type Pace } from './bench/rounds.ts';
import { signInCost, stormCost } from './bench/sign-ins.ts';
import { soak } from './bench/soak.ts';
import { startAndMemory } from './bench/starts.ts';
import { durability, firstSight, pageWeight, workers } from './bench/variants.ts';
import { parseFlags, runCommand, UsageError } from './command-line.ts';
import { assertWritable } from './file-problem.ts';

const HELP = `Measures Latchkey on this machine, in turns with bare node:http and the same signatures. Less than ten minutes.

Usage: npm run bench -- [options]

  --quick             fewer and shorter rounds, less than two minutes
  --only TEXT         only goals or operations whose name contains TEXT (P1, userinfo, ...)
  --json FILE         also writes all figures there
  --profile TEXT      instead: where the time of the one operation goes
  --compare FILE      instead: the same load on other providers, all in turns, whose requests the file has
                      ([{ "name", "pid", "port", "operations": { "userinfo": { "method", "path", "headers", "body" } } }])
  --handlers          instead: what a request takes with the handlers of src/oidc/plain/, by what it takes without
  --soak N            instead: that many mixed requests, and how memory grows
  --rounds N, --ms N, --connections N   (8, 1000, 16)
  --besides PID,PID   processes that work for what is measured (databases, other providers); a round in which any other
                      program worked is measured again
  --help              show this

With MONGODB_TEST_URI (and REDIS_TEST_URL) of real servers the operations are measured on these, too.
Exit codes: 0 measured, 2 invalid options. Whether a goal is met is in the figures.
`;

const MAX = 100_000_000;

function readOptions() {
  const flags = parseFlags(process.argv.slice(2), {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
    compare: { type: 'string' },
    soak: { type: 'string' },
    handlers: { type: 'boolean' },
    besides: { type: 'string' },
    rounds: { type: 'string' },
    ms: { type: 'string' },
    connections: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  const numberIn = (name: 'rounds' | 'ms' | 'connections' | 'soak', otherwise: number): number => {
    const text = flags[name];
    const value = text === undefined ? otherwise : Number(text);
    if (!Number.isInteger(value) || value < 1 || value > MAX)
      throw new UsageError(`--${name} must be a whole number from 1.`);
    return value;
  };
  const isQuick = flags.quick === true;
  const pace: Pace = {
    rounds: numberIn('rounds', isQuick ? 3 : 8),
    ms: numberIn('ms', isQuick ? 300 : 1000),
    connections: numberIn('connections', 16),
    warmUpMs: isQuick ? 3000 : 10_000,
    besides: (flags.besides ?? '').split(',').filter(Boolean).map(Number),
  };
  const goals = ['P4', 'P7', 'P8', 'P9', 'P10', 'P14'];
  const isKnown = (text: string): boolean =>
    goals.includes(text) || operations.some(({ goal, name }) => `${goal} ${name}`.includes(text));
  if (flags.only !== undefined && !isKnown(flags.only))
    throw new UsageError(`--only: no goal or operation contains "${flags.only}". Try P1, userinfo or P10.`);
  return { ...flags, pace, soak: flags.soak === undefined ? undefined : numberIn('soak', 1) };
}
type Options = ReturnType<typeof readOptions>;

const figures: Figure[] = [];
function tell(...found: readonly Figure[]): void {
  for (const figure of found) process.stdout.write(`${lineOf(figure)}\n`);
  figures.push(...found);
}

async function throughput(
  product: Product,
  floor: Server,
  prepared: Prepared,
  { pace, only, where = '' }: { pace: Pace; only: string | undefined; where?: string },
): Promise<void> {
  for (const operation of operations) {
    const { goal, name, limit, requests } = operation;
    if (only !== undefined && !`${goal} ${name}`.includes(only)) continue;
    const found = await compare(
      { server: product, requests: (ms) => requests(prepared, ms, pace.connections) },
      { server: floor, requests: () => always(operation.floor) },
      pace,
    );
    tell({
      goal,
      name: `${name}${where}`,
      unit: 'of the floor',
      value: found.rate.middle,
      quartiles: found.rate,
      ...(where === '' && { limit }),
      wanted: 'more',
      more: {
        cpu_ratio: found.cpu.middle,
        cpu_ratio_low: found.cpu.low,
        cpu_ratio_high: found.cpu.high,
        per_second: found.perSecond,
        cpu_micros: found.cpuMicros,
        p50_ms: found.p50,
        p99_ms: found.p99,
        others: found.others,
        ...(!found.isSettled && { warm_up: 'not settled' }),
      },
    });
  }
}

async function everything({ pace, only }: Options): Promise<void> {
  const isWanted = (goal: string): boolean => only === undefined || only === goal;
  const floor = await startFloor();
  const product = await startProduct();
  try {
    const prepared = await prepare(product);
    await throughput(product, floor, prepared, { pace, only });
    if (isWanted('P6')) tell(await firstSight(product, prepared, pace));
    if (isWanted('P4')) tell(...(await durability(product, prepared, pace)));
    if (isWanted('P7')) tell(await signInCost(product, floor, prepared, pace));
    if (isWanted('P8')) tell(...(await stormCost(product, prepared, pace)));
    if (isWanted('P9')) tell(await workers(product, prepared, pace));
    if (isWanted('P14')) tell(await pageWeight(product, prepared));
    const other = elsewhere();
    if (other !== undefined) {
      const there = await startProduct(other);
      await throughput(there, floor, await prepare(there), { pace, only, where: ` ${other.where}` });
      await there.stop();
    }
  } finally {
    await Promise.all([floor.stop(), product.stop()]);
  }
  if (isWanted('P10')) tell(...(await startAndMemory(pace)));
}

/** @returns whether it has the instructions that make RSA twice as fast */
function hasIfma(): boolean {
  try {
    return /\bavx512ifma\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return false;
  }
}

async function run(options: Options): Promise<void> {
  const { pace } = options;
  // Before the measuring, which takes minutes.
  if (options.json !== undefined) assertWritable(options.json);
  const others = options.compare === undefined ? undefined : readOthers(options.compare);
  if (options.profile !== undefined) {
    process.stdout.write(await profileOperation(options.profile, pace));
    return;
  }
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    ifma: hasIfma(),
    node: process.version,
    servers: isPinned ? 'on core 0' : 'not pinned',
    ...pace,
  };
  process.stdout.write(
    `${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}\n`,
  );
  if (options.handlers === true) {
    for await (const figure of gainOfHandlers(pace, options.only)) tell(figure);
  } else if (options.soak !== undefined || others !== undefined) {
    const product = await startProduct();
    try {
      if (options.soak !== undefined) tell(await soak(product, options.soak, pace));
      if (others !== undefined) {
        for await (const figure of compareWith(others, product, await prepare(product), pace)) tell(figure);
      }
    } finally {
      await product.stop();
    }
  } else await everything(options);
  if (options.json === undefined) return;
  const result = {
    at: new Date().toISOString(),
    machine,
    figures: figures.map((one) => ({ ...one, is_met: isMet(one) })),
  };
  writeFileSync(options.json, `${JSON.stringify(result, undefined, 1)}\n`);
}

await runCommand(async () => {
  const options = readOptions();
  if (options.help) process.stdout.write(HELP);
  else await run(options);
  return undefined;
});
