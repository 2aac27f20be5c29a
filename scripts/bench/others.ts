// `--compare FILE`: the same load on other providers, all in turns with ours. They run already, each pinned to the same core by whoever
// started it: the project ships none. The file is a list, one for each:
//   { "name": "Keycloak 26.4", "pid": 4711, "port": 8080, "operations": { "userinfo": { "method", "path", "headers", "body" }, … } }
// by names of operations here. With "values", a list, each request has the next one of them in place of `{}`: tokens to be asked about once.
import { UsageError } from '../command-line.ts';
import { readText } from '../file-problem.ts';
import type { Figure } from './figures.ts';
import { type NextRequest, requestBytes } from './http-load.ts';
import { always, type Operation, operations } from './operations.ts';
import type { Prepared } from './prepare.ts';
import { foreignServer, type Server } from './processes.ts';
import { compareWithEach, type Pace } from './rounds.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly values?: readonly string[];
}
export interface Other {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly operations: Readonly<Record<string, Request>>;
}

const operationOf = (wanted: string): Operation | undefined =>
  operations.find(({ name, goal }) => `${goal} ${name}`.includes(wanted));

/** @throws UsageError where the file is none of these, or names no operation of ours */
export function readOthers(file: string): readonly Other[] {
  const text = readText(file);
  let others: readonly Other[];
  try {
    others = [JSON.parse(text)].flat();
  } catch {
    throw new UsageError(`${file} is not JSON.`);
  }
  for (const { name, operations: asked } of others) {
    const names = Object.keys(asked ?? {});
    if (names.length === 0) throw new UsageError(`${file}: ${name} has no "operations".`);
    const unknown = names.find((one) => operationOf(one) === undefined);
    if (unknown !== undefined) throw new UsageError(`${file}: no operation contains "${unknown}".`);
  }
  return others;
}

/** @returns what it is sent, over all rounds: a value that was used is not used again */
function requestsOf({ method, path, headers, body = '', values }: Request): () => NextRequest {
  if (values === undefined) {
    const request = always(requestBytes(method, path, headers, body));
    return () => request;
  }
  const left = [...values];
  return () => () => {
    const value = left.pop();
    return value === undefined ? undefined : requestBytes(method, path, headers, body.replace('{}', value));
  };
}

export async function* compareWith(
  others: readonly Other[],
  server: Server,
  prepared: Prepared,
  pace: Pace,
): AsyncGenerator<Figure> {
  for (const operation of operations) {
    const asked = others.flatMap((other) =>
      Object.entries(other.operations)
        .filter(([wanted]) => operationOf(wanted) === operation)
        .map(([, request]) => ({ other, request })),
    );
    if (asked.length === 0) continue;
    const found = await compareWithEach(
      { server, requests: (ms) => operation.requests(prepared, ms, pace.connections) },
      asked.map(({ other: { pid, port }, request }) => ({
        server: foreignServer(pid, port),
        requests: requestsOf(request),
      })),
      pace,
    );
    for (const [index, { rate, cpu, perSecond, others: elsewhere }] of found.entries())
      yield {
        goal: operation.goal,
        name: `${operation.name}, by ${asked[index]?.other.name}`,
        unit: 'times its rate',
        value: rate.middle,
        quartiles: rate,
        limit: 2,
        wanted: 'more',
        more: { per_second: perSecond, cpu: cpu.middle, others: elsewhere },
      };
  }
}
