// `npm run release`, the `release` process of a deployment: checks every store, creates indexes and derives again what a changed
// data model needs, before the first process of this version starts.
import { isStoreInUse, openDurable, prepareStore } from '../adapters/index.ts';
import { systemClock } from '../src/clock.ts';
import { ConfigError, loadConfig } from '../src/config/load.ts';
import { createProgress } from '../src/process/progress.ts';
import { version } from '../src/process/version.ts';
import { checkMark, enterStore } from '../src/store/mark.ts';
import type { Store } from '../src/store/port.ts';
import { isHelpAsked, runCommand } from './command-line.ts';

const HELP = `Makes the store ready for this version: checks that it answers, creates indexes, derives what a changed data model needs.

Usage: npm run release

Run it before the first process of a new version starts; running it again changes nothing. The environment (DATA_DIR,
MONGODB_URI, REDIS_URL, SECRET_KEY …) is as for the server.

Exit codes: 0 ready, 1 something went wrong, 2 invalid options.`;

await runCommand(async () => {
  if (isHelpAsked(process.argv.slice(2))) {
    console.log(HELP);
    return undefined;
  }
  const config = loadConfig(process.env);
  const started = performance.now();
  const log = {
    warn: (_: object, message: string) => console.error(message),
    info: (_: object, message: string) => console.log(message),
  };
  const line = process.stdout.isTTY ? createProgress({ unit: 'documents' }) : undefined;
  line?.update('Checking the store', 0, 0);
  const clock = systemClock;
  const onDurable = async (act: (store: Store) => Promise<unknown>): Promise<void> => {
    const store = await openDurable({ config, clock });
    await act(store).finally(() => store.close());
  };
  try {
    // Before anything is changed: a version that is too old for the store leaves it alone.
    await onDurable((store) => checkMark({ store, clock, version }));
    if (await isStoreInUse(config))
      log.warn(
        {},
        'A server has this database open. Its writes wait while this changes it, and fail after 9 s: better stop it first.',
      );
    await prepareStore({ config, clock, log, line });
    await onDurable((store) => enterStore({ store, clock, version }));
  } finally {
    line?.end();
  }
  console.log(`The store is ready for this version (${Math.round(performance.now() - started)} ms).`);
  return undefined;
}, [ConfigError]);
