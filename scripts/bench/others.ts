// `--compare FILE`: the same load on another provider, in turns with ours. It runs already, pinned to the same core by whoever
// started it. The file: { "name", "pid", "port", "operations": { "userinfo": { "method", "path", "headers", "body" }, … } }, by names
// of operations here.
import { UsageError } from '../command-line.ts';
import { readText } from '../file-problem.ts';
import type { Figure } from './figures.ts';
import { requestBytes } from './http-load.ts';
import { always, operations } from './operations.ts';
import type { Prepared } from './prepare.ts';
import { type Server, serverOf } from './processes.ts';
import { compare, type Pace } from './rounds.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}
export interface Other {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly operations: Readonly<Record<string, Request>>;
}

const operationOf = (wanted: string) =>
  operations.find(({ name, goal }) => `${goal} ${name}`.includes(wanted));

/** @throws UsageError where the file is none of these, or names no operation of ours */
export function readOther(file: string): Other {
  const text = readText(file);
  let other: Other;
  try {
    other = JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is not JSON.`);
  }
  const names = Object.keys(other.operations ?? {});
  if (names.length === 0) throw new UsageError(`${file} has no "operations".`);
  const unknown = names.find((name) => operationOf(name) === undefined);
  if (unknown !== undefined) throw new UsageError(`${file}: no operation contains "${unknown}".`);
  return other;
}

export async function compareWith(
  other: Other,
  server: Server,
  prepared: Prepared,
  pace: Pace,
): Promise<Figure[]> {
  const theirs: Server = { ...serverOf(other.pid, other.port), stop: async () => {} };
  const figures: Figure[] = [];
  for (const [wanted, { method, path, headers, body }] of Object.entries(other.operations)) {
    const operation = operationOf(wanted);
    if (operation === undefined) continue;
    const request = always(requestBytes(method, path, headers, body));
    const { rate, cpu, perSecond } = await compare(
      { server, requests: (ms) => operation.requests(prepared, ms, pace.connections) },
      { server: theirs, requests: () => request },
      pace,
    );
    figures.push({
      goal: operation.goal,
      name: `${operation.name}, by ${other.name}`,
      unit: 'times its rate',
      value: rate.middle,
      quartiles: rate,
      limit: 2,
      wanted: 'more',
      more: { per_second: perSecond, cpu: cpu.middle },
    });
  }
  return figures;
}
