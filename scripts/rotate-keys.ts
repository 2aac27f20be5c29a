// Rotates the signing key and SECRET_KEY from the terminal: the same operations as the admin API and the background jobs, on
// the same store, also while servers are running.
import { ConfigError, loadConfig } from '../src/config/load.ts';
import type { Keys } from '../src/keys/index.ts';
import type { Resealing } from '../src/keys/resealing.ts';
import type { KeyView, RotationMode } from '../src/keys/signing-keys.ts';
import { createLogger } from '../src/log.ts';
import {
  createProgress,
  INTERRUPTED,
  Interrupted,
  type Progress,
  stopOnSignals,
  unlessStopped,
} from '../src/process/progress.ts';
import { parseFlags, runCommand, UsageError } from './command-line.ts';
import { findEmbedded, isOnMongo } from './embedded-database.ts';

const HELP = `Puts a new signing key in the place of the current one, or seals secrets anew after a change of SECRET_KEY.

Usage: npm run keys:rotate -- [option]

  (none)         show a new key now and let it sign in a quarter of an hour, when every application has seen it
  --immediate    the same, but let it sign within seconds
  --compromised  the new key signs at once, and every token that the old key signed ends
  --list         only show which keys there are
  --reseal       seal everything anew with the first SECRET_KEY of the list (SECRET_KEY=new,old); with exit code 0 the
                 others can be dropped from it
  --help         show this

A signing key is an RSA key (RS256) with a key for ES256 beside it; they are replaced together.

The environment (DATA_DIR, SECRET_KEY, BASE_URL …) is as for the server, which may be running and sees it within a second.

Exit codes: 0 done, 1 something went wrong, 2 invalid options, 3 some secrets could not be opened, 130 stopped by Ctrl-C.
`;

const EXIT = { done: 0, unreadable: 3 } as const;

const SEALED = [
  'No stored data needs the other keys any more. Cookies signed with them are re-signed when their browser returns; a user',
  'who has not returned when you remove them must sign in again, on a trusted browser also with the second factor.',
];

const STOPPED = [
  'Stopped: each of these is whole, and the rest still needs the other keys. Keep the list (SECRET_KEY=new,old) and run this',
  'again, or leave it to a running server, which does the same by itself.',
];

const UNTOUCHED = 'Stopped before anything was done: the keys are as they were. Run the same command again.';
const ROTATED =
  'The new key was there before it could be stopped: running this again would make another one.';

function parseOptions(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const help = { ...flag, short: 'h' } as const;
  const values = parseFlags(args, { immediate: flag, compromised: flag, list: flag, reseal: flag, help });
  if (Object.values(values).filter(Boolean).length > 1) throw new UsageError('Only one option at a time.');
  return values;
}

const timeOf = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());

function describe({ state, kid, alg, activatesAt, activatedAt, removedAt }: KeyView): string {
  switch (state) {
    case 'next':
      return `next     ${kid}  ${alg}  signs from ${timeOf(activatesAt)}`;
    case 'current':
      return `current  ${kid}  ${alg}  signs since ${timeOf(activatedAt)}`;
    case 'retired':
      return `retired  ${kid}  ${alg}  shown until ${timeOf(removedAt)}`;
  }
}

type Said = readonly [lines: readonly string[], exitCode: number];

interface Shown {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Ctrl-C stops it after a page of documents. */
async function reseal(resealing: Resealing, { progress, signal }: Shown): Promise<Said> {
  const { resealed, unreadable } = await resealing.run({
    get aborted() {
      return signal.aborted;
    },
    onRead: (done, total) => progress.update('Sealing anew', done, total),
  });
  const summary = `Sealed anew with the first SECRET_KEY: ${resealed}.`;
  if (signal.aborted) return [[summary, ...STOPPED], INTERRUPTED];
  return unreadable === 0
    ? [[summary, ...SEALED], EXIT.done]
    : [[summary, `No listed SECRET_KEY opens: ${unreadable}.`], EXIT.unreadable];
}

/** Takes a moment, and is whole afterwards: Ctrl-C in it only says so. */
async function rotate(
  keys: Keys,
  mode: RotationMode | undefined,
  { progress, signal }: Shown,
): Promise<Said> {
  if (mode !== undefined) {
    progress.update('Making the new key', 0, 0);
    await keys.rotate(mode);
  }
  const list = (await keys.list()).map(describe);
  if (!signal.aborted) return [list, EXIT.done];
  return [mode === undefined ? list : [...list, ROTATED], INTERRUPTED];
}

/** @returns lines and exit code */
async function act(options: ReturnType<typeof parseOptions>, shown: Shown): Promise<Said> {
  const { progress, signal } = shown;
  if (!isOnMongo()) findEmbedded();
  const config = loadConfig(process.env);
  const log = createLogger({ level: 'warn', pretty: true, destination: process.stderr });
  // Opening a large database takes seconds, in which a person at a terminal would wonder.
  progress.update('Opening the database', 0, 0);
  // Imported late: loading the whole product takes longer than reporting an invalid option.
  const line = process.stderr.isTTY ? progress : undefined;
  const opening = import('../src/process/open-app.ts').then(({ openApp }) => openApp({ config, log, line }));
  const { app, close } = await unlessStopped(opening, signal, UNTOUCHED);
  try {
    if (options.reseal) return await reseal(app.resealing, shown);
    const fast: RotationMode = options.immediate ? 'immediate' : 'gradual';
    const mode = options.compromised ? 'compromised' : fast;
    return await rotate(app.keys, options.list ? undefined : mode, shown);
  } finally {
    await close();
  }
}

/** With what it is at in a terminal. */
async function actShown(options: ReturnType<typeof parseOptions>): Promise<Said> {
  const progress = createProgress({ unit: 'documents read', out: process.stderr });
  const stopping = stopOnSignals((text) => progress.say(text));
  try {
    return await act(options, { progress, signal: stopping.signal });
  } catch (error) {
    progress.end();
    if (!(error instanceof Interrupted)) throw error;
    console.error(error.message);
    // Without waiting for a database that does not answer.
    return process.exit(INTERRUPTED);
  } finally {
    progress.end();
    stopping.release();
  }
}

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2));
  const [lines, exitCode] = options.help ? [[HELP.trimEnd()], EXIT.done] : await actShown(options);
  for (const line of lines) console.log(line);
  return exitCode;
}, [ConfigError]);
