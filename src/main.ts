// Owns the process entry of `web`: configuration, store, application, listening, and stopping on SIGTERM. With the
// embedded store it also runs the background jobs.
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { openStore } from '../adapters/index.ts';
import { createFirstAdminFromConfig } from './accounts/headless.ts';
import { createApp } from './app.ts';
import { systemClock } from './clock.ts';
import { ConfigError, loadConfigFromEnvironment } from './config/load.ts';
import type { Config } from './config/types.ts';
import { createHttpServer, type HttpServer, listen, stopServer } from './http/server.ts';
import { createLogger, type Logger } from './log.ts';
import { type Running, runWorkers } from './workers.ts';

// What runs gets this long to end; the platform kills at 30 s.
const GRACE_MS = 20_000;
// Time for a load balancer to see that readiness has turned before the port closes.
const LINGER_MS = 500;

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

async function start(config: Config, log: Logger): Promise<Running> {
  const store = await openStore({ config, clock: systemClock });
  let server: HttpServer | undefined;
  const app = await createApp({
    config,
    store,
    clock: systemClock,
    log,
    version,
    isDraining: () => server?.isDraining === true,
  });
  await createFirstAdminFromConfig({ admin: config.admin, accounts: app.accounts, log });
  server = createHttpServer({ handler: app.handler, isSecure: config.baseUrl.startsWith('https:') });
  const running = server;
  const port = await listen(running, config);
  app.jobs.start();
  if (cluster.worker === undefined || cluster.worker.id === 1) {
    log.info({ port, base_url: config.baseUrl, version }, 'listening');
    if (!(await app.accounts.hasAdmin())) {
      log.info(`Open ${config.baseUrl}/onboard to create the first administrator.`);
    }
  }
  return {
    async stop(reason) {
      await stopServer(running, { graceMs: GRACE_MS, lingerMs: reason === 'SIGTERM' ? LINGER_MS : 0 });
      await app.jobs.stop();
      await store.close();
    },
  };
}

function readConfig(): Config {
  try {
    return loadConfigFromEnvironment();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Before there is a log level there is no log: the operator reads this on the terminal.
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}

const config = readConfig();
const log = createLogger({ level: config.logLevel });
await runWorkers({ count: config.webConcurrency, start: () => start(config, log), log });
