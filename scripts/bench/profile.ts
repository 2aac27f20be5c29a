// `--profile OPERATION`: where the time of one operation goes, by the sampling profiler of the process itself, over a window when it
// is warm.
import { UsageError } from '../command-line.ts';
import { load } from './http-load.ts';
import { operations } from './operations.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Product, startProduct } from './processes.ts';
import { type Pace, warmUp } from './rounds.ts';
import { signInsFor } from './sign-ins.ts';

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

/** What is profiled: first until it is warm, then for PROFILE_MS between `start` and the end. */
interface Subject {
  readonly name: string;
  /** @param start begins the recording. @returns how many there were */
  run(product: Product, prepared: Prepared, start: () => Promise<void>): Promise<number>;
}

/** @throws UsageError where nothing has the text in its goal or name */
function subjectOf(text: string, pace: Pace): Subject {
  const { connections } = pace;
  const signIns: Subject = {
    name: 'P7 password sign-in',
    async run(product, prepared, start) {
      await signInsFor(product, prepared, PROFILE_MS, 4);
      await start();
      return (await signInsFor(product, prepared, PROFILE_MS, 4)).count;
    },
  };
  const subjects = operations.map(
    ({ goal, name, requests }): Subject => ({
      name: `${goal} ${name}`,
      async run(product, prepared, start) {
        await warmUp({ server: product, requests: (ms) => requests(prepared, ms, connections) }, pace);
        const next = await requests(prepared, PROFILE_MS, connections);
        await start();
        return (await load(product, { connections, ms: PROFILE_MS, next })).requests;
      },
    }),
  );
  const all = [...subjects, signIns];
  const subject = all.find(({ name }) => name.includes(text));
  if (subject !== undefined) return subject;
  const known = all.map(({ name }) => name).join(', ');
  throw new UsageError(`--profile: no operation contains "${text}". There are: ${known}.`);
}

/** @throws UsageError where nothing has the text in its goal or name */
export async function profileOperation(text: string, pace: Pace): Promise<string> {
  const subject = subjectOf(text, pace);
  const { promise, resolve } = Promise.withResolvers<string>();
  const onError = (line: string): void => {
    const [, found] = /Debugger listening on (ws:\S+)/.exec(line) ?? [];
    if (found !== undefined) resolve(found);
  };
  const product = await startProduct({ flags: ['--inspect=127.0.0.1:0'], onError });
  try {
    const inspector = await openInspector(await promise);
    const prepared = await prepare(product);
    const count = await subject.run(product, prepared, async () => {
      await inspector.call('Profiler.enable');
      await inspector.call('Profiler.setSamplingInterval', { interval: 250 });
      await inspector.call('Profiler.start');
    });
    const { profile }: { profile: Profile } = Object(await inspector.call('Profiler.stop'));
    inspector.close();
    const rows = (list: [string, number][]): string =>
      list.map(([name, micros]) => `${(micros / count).toFixed(1).padStart(8)} ${name}`).join('\n');
    return (
      `${subject.name}: ${count} times; µs of the main thread each\n\nby area\n${rows(totals(profile, areaOf).slice(0, SHOWN / 2))}` +
      `\n\nby function\n${rows(totals(profile, placeOf).slice(0, SHOWN))}\n`
    );
  } finally {
    await product.stop();
  }
}
