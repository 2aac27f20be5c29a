// Rotates the signing key and SECRET_KEY from the terminal: the same operations as the admin API and the background jobs, on
// the same store, also while servers are running.
import { ConfigError, loadConfig } from '../src/config/load.ts';
import type { Resealing } from '../src/keys/resealing.ts';
import type { KeyView, RotationMode } from '../src/keys/signing-keys.ts';
import { createLogger } from '../src/log.ts';
import type { ResealFigures } from '../src/store/reseal.ts';
import { parseFlags, runCommand, UsageError } from './command-line.ts';
import { findEmbedded, isOnMongo } from './embedded-database.ts';
import { createProgress, INTERRUPTED, stopOnSignals } from './progress.ts';

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

/** With what it is at in a terminal; Ctrl-C stops it after a page of documents. */
async function resealShown(resealing: Resealing): Promise<ResealFigures & { isStopped: boolean }> {
  const progress = createProgress({ unit: 'documents read', out: process.stderr });
  const stopping = stopOnSignals((text) => progress.say(text));
  const { signal } = stopping;
  try {
    const figures = await resealing.run({
      get aborted() {
        return signal.aborted;
      },
      onRead: (done, total) => progress.update('Sealing anew', done, total),
    });
    return { ...figures, isStopped: signal.aborted };
  } finally {
    progress.end();
    stopping.release();
  }
}

/** @returns lines and exit code */
async function act(options: ReturnType<typeof parseOptions>): Promise<[lines: string[], exitCode: number]> {
  if (!isOnMongo()) findEmbedded();
  const config = loadConfig(process.env);
  const log = createLogger({ level: 'warn', pretty: true, destination: process.stderr });
  // Opening a large database takes seconds, in which a person at a terminal would wonder.
  const opening = createProgress({ unit: '', out: process.stderr });
  opening.update('Opening the database', 0, 0);
  // Imported late: loading the whole product takes longer than reporting an invalid option.
  const { openApp } = await import('../src/process/open-app.ts');
  const { app, close } = await openApp({ config, log }).finally(opening.end);
  try {
    if (options.reseal) {
      const { resealed, unreadable, isStopped } = await resealShown(app.resealing);
      const summary = `Sealed anew with the first SECRET_KEY: ${resealed}.`;
      if (isStopped) return [[summary, ...STOPPED], INTERRUPTED];
      return unreadable === 0
        ? [[summary, ...SEALED], EXIT.done]
        : [[summary, `No listed SECRET_KEY opens: ${unreadable}.`], EXIT.unreadable];
    }
    if (!options.list) {
      const fast: RotationMode = options.immediate ? 'immediate' : 'gradual';
      await app.keys.rotate(options.compromised ? 'compromised' : fast);
    }
    return [(await app.keys.list()).map(describe), EXIT.done];
  } finally {
    await close();
  }
}

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2));
  const [lines, exitCode] = options.help ? [[HELP.trimEnd()], EXIT.done] : await act(options);
  for (const line of lines) console.log(line);
  return exitCode;
}, [ConfigError]);
