// What every process does first: configuration (or exit with its problems) and log. The application is open-app.ts: the
// primary of several processes serves nothing and does not load it.
import { ConfigError, loadConfigFromEnvironment } from '../config/load.ts';
import type { Config } from '../config/types.ts';
import { createLogger, type Logger } from '../log.ts';

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
