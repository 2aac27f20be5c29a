// `--profile OPERATION`: where the time of one operation goes, by the sampling profiler of the process itself, over a window when it
// is warm.
import { UsageError } from '../command-line.ts';
import { load } from './http-load.ts';
import { operations } from './operations.ts';
import { prepare } from './prepare.ts';
import { startProduct } from './processes.ts';
import { type Pace, warmUp } from './rounds.ts';

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}
interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const PROFILE_MS = 6000;
const SHOWN = 40;

/** The inspector's protocol over its socket, as far as the profiler needs it. */
async function openInspector(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let id = 0;
  return {
    call(method: string, params: object = {}): Promise<unknown> {
      id += 1;
      const own = id;
      socket.send(JSON.stringify({ id: own, method, params }));
      return new Promise((resolve) => {
        const listen = ({ data }: MessageEvent): void => {
          const answer: { id?: number; result?: unknown } = JSON.parse(String(data));
          if (answer.id !== own) return;
          socket.removeEventListener('message', listen);
          resolve(answer.result);
        };
        socket.addEventListener('message', listen);
      });
    },
    close: () => socket.close(),
  };
}

const placeOf = ({ functionName, url, lineNumber }: Frame): string => {
  const file = url
    .replace(/^.*node_modules\//, '')
    .replace(/^file:\/\/.*?\/(src|adapters|interactions)\//, '$1/');
  return `${functionName || '(anonymous)'} ${file}${url === '' ? '' : `:${lineNumber + 1}`}`;
};
/** Package, or folder of ours. */
const areaOf = ({ functionName, url }: Frame): string => {
  const [, found] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (found !== undefined) return found;
  if (url.startsWith('node:')) return 'node';
  const [, own] = /\/((?:src|adapters|interactions)(?:\/[^/]+)?)\//.exec(url) ?? [];
  return own ?? (functionName || '(program)');
};

function totals(profile: Profile, nameOf: (frame: Frame) => string): [string, number][] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const micros = new Map<string, number>();
  for (const [index, sample] of profile.samples.entries()) {
    const frame = frames.get(sample);
    if (frame === undefined) continue;
    const name = nameOf(frame);
    micros.set(name, (micros.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  return [...micros].toSorted(([, one], [, other]) => other - one);
}

/** @throws UsageError where no operation has the text in its goal or name */
export async function profileOperation(text: string, pace: Pace): Promise<string> {
  const operation = operations.find(({ goal, name }) => `${goal} ${name}`.includes(text));
  if (operation === undefined) {
    const known = operations.map(({ goal, name }) => `${goal} ${name}`).join(', ');
    throw new UsageError(`--profile: no operation contains "${text}". There are: ${known}.`);
  }
  const { promise, resolve } = Promise.withResolvers<string>();
  const onError = (line: string): void => {
    const [, found] = /Debugger listening on (ws:\S+)/.exec(line) ?? [];
    if (found !== undefined) resolve(found);
  };
  const product = await startProduct({ flags: ['--inspect=127.0.0.1:0'], onError });
  try {
    const inspector = await openInspector(await promise);
    const prepared = await prepare(product);
    const requests = (ms: number) => operation.requests(prepared, ms, pace.connections);
    await warmUp({ server: product, requests }, pace);
    const next = await requests(PROFILE_MS);
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: 250 });
    await inspector.call('Profiler.start');
    const { requests: count } = await load(product, { connections: pace.connections, ms: PROFILE_MS, next });
    const { profile }: { profile: Profile } = Object(await inspector.call('Profiler.stop'));
    inspector.close();
    const rows = (list: [string, number][]): string =>
      list.map(([name, micros]) => `${(micros / count).toFixed(1).padStart(8)} ${name}`).join('\n');
    return (
      `${operation.name}: ${count} requests; µs of the main thread per request\n\nby area\n${rows(totals(profile, areaOf).slice(0, SHOWN / 2))}` +
      `\n\nby function\n${rows(totals(profile, placeOf).slice(0, SHOWN))}\n`
    );
  } finally {
    await product.stop();
  }
}
