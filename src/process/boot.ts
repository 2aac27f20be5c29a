// Owns what every process of the product does before its own work: the configuration or a readable end, the log, and the
// application on its store. What the process then does is src/main.ts, src/worker.ts or a script.
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

/** Ends the process with 1 and every problem on the terminal when the configuration is wrong. */
export function boot(): Booted {
  try {
    const config = loadConfigFromEnvironment();
    return { config, log: createLogger({ level: config.logLevel }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Before there is a log level there is no log: the operator reads this on the terminal.
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}

export interface OpenApp {
  readonly app: App;
  /** Ends the background jobs, then the store. */
  close(): Promise<void>;
}

/**
 * @param options.isDraining whether this process was told to stop
 * @param options.worker which of the processes that share the port
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
