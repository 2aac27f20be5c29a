// Starts the process that encodes a picture (encode-process.ts): one at a time, few waiting, and none for longer than seconds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors.ts';
import { parseJson } from '../json.ts';

/** A square of the picture as it is seen, in its pixels. */
export interface Crop {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

export interface EncodedPicture {
  /** JPEG, base64. */
  readonly large: string;
  readonly small: string;
}

/**
 * @param crop absent: the middle
 * @throws AppError avatar.unreadable, avatar.too_many_pixels, avatar.busy
 */
export type EncodePicture = (bytes: Buffer, crop?: Crop) => Promise<EncodedPicture>;

/** By content, whatever it is called: nothing else is worth a process. The decoders look closer. */
function isPicture(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 12).toString('latin1');
  return (
    start.startsWith('\xff\xd8\xff') ||
    start.startsWith('\x89PNG\r\n\x1a\n') ||
    /^GIF8[79]a/.test(start) ||
    (start.startsWith('RIFF') && start.endsWith('WEBP'))
  );
}

const PROGRAM = fileURLToPath(new URL('./encode-process.ts', import.meta.url));
const TIMEOUT_MS = 10_000;
/** Behind more, a browser would give up. */
const MAX_WAITING = 8;
const BUSY_SECONDS = 5;

/** @throws AppError, or an Error when the process could not do its work at all (its library is missing) */
async function run(
  bytes: Buffer,
  kind: 'avatar' | 'logo' | 'background',
  square: readonly string[],
): Promise<unknown> {
  const child = spawn(process.execPath, ['--max-old-space-size=64', PROGRAM, kind, ...square], {
    // Nothing of our configuration, secrets least of all.
    env: {},
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  // It may end before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(bytes);
  const [output, complaint, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  // Ended by the file: its decoder crashed, took too long or too much memory.
  if (signal !== null) throw new AppError('avatar.unreadable');
  if (code !== 0) throw new Error(`the picture process ended with ${code}: ${complaint.slice(0, 500)}`);
  return parseJson(output);
}

function answerOf(answer: unknown): EncodedPicture {
  const { large, small, problem }: Partial<Record<string, unknown>> = Object(answer);
  if (problem === 'too_large') throw new AppError('avatar.too_many_pixels');
  if (typeof large !== 'string' || typeof small !== 'string') throw new AppError('avatar.unreadable');
  return { large, small };
}

/** One at a time, whoever asks. */
function createQueue() {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (...[bytes, ...how]: Parameters<typeof run>): Promise<unknown> => {
    if (!isPicture(bytes)) throw new AppError('avatar.unreadable');
    if (waiting >= MAX_WAITING) throw new AppError('avatar.busy', { retryAfterSeconds: BUSY_SECONDS });
    waiting += 1;
    const mine = last
      .then(() => run(bytes, ...how))
      .finally(() => {
        waiting -= 1;
      });
    last = mine.catch(() => undefined);
    return mine;
  };
}

export function createEncoder(): EncodePicture {
  const ask = createQueue();
  return async (bytes, crop) => {
    const square = crop === undefined ? [] : [crop.x, crop.y, crop.size].map(String);
    return answerOf(await ask(bytes, 'avatar', square));
  };
}

/** A picture of a look, small enough for a page. */
interface EncodedForLook {
  /** Base64: PNG of a logo, WebP of a background. */
  readonly data: string;
  readonly width: number;
  readonly height: number;
}

/** @returns functions that throw AppError avatar.unreadable, avatar.too_many_pixels, avatar.busy */
export function createLookEncoder() {
  const ask = createQueue();
  const encoded =
    (kind: 'logo' | 'background') =>
    async (bytes: Buffer): Promise<EncodedForLook> => {
      const answer = await ask(bytes, kind, []);
      const { data, width, height, problem }: Partial<Record<string, unknown>> = Object(answer);
      if (problem === 'too_large') throw new AppError('avatar.too_many_pixels');
      if (typeof data !== 'string' || typeof width !== 'number' || typeof height !== 'number')
        throw new AppError('avatar.unreadable');
      return { data, width, height };
    };
  return { logo: encoded('logo'), background: encoded('background') };
}
