// What every process does first: configuration (or exit with its problems), log, application on its store.
import { readFileSync } from 'node:fs';
import { openStore } from '../../adapters/index.ts';
import { type App, createApp } from '../app/create-app.ts';
import { systemClock } from '../clock.ts';
import { ConfigError, loadConfigFromEnvironment } from '../config/load.ts';
import type { Config } from '../config/types.ts';
import { createLogger, type Logger } from '../log.ts';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

export { version };

export interface Booted {
  readonly config: Config;
  readonly log: Logger;
}

/** Exits with code 1 and prints all problems when the configuration is invalid. */
export function boot(): Booted {
  try {
    const config = loadConfigFromEnvironment();
    return { config, log: createLogger({ level: config.logLevel }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Without a configuration there is no log level; the operator reads this in the terminal.
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}

export interface OpenApp {
  readonly app: App;
  /** Stops the background jobs, then closes the store. */
  close(): Promise<void>;
}

/**
 * @param options.isDraining whether this process is shutting down
 * @param options.worker index among the processes that share the port
 * @throws StoreUnavailable when the store cannot be opened
 */
export async function openApp(
  options: Booted & { isDraining?: () => boolean; worker?: string },
): Promise<OpenApp> {
  const store = await openStore({ config: options.config, clock: systemClock, log: options.log });
  const app = await createApp({ ...options, store, clock: systemClock, version });
  return {
    app,
    async close() {
      await app.jobs.stop();
      await store.close();
    },
  };
}
