// Serving, in the `web` process or each of its workers: application, listening, and stopping on SIGTERM. With the embedded
// store it also runs the background jobs.
import cluster from 'node:cluster';
import type { Config } from '../config/types.ts';
import { createHttpServer, type HttpServer, listen, requestsIn, stopServer } from '../http/serving.ts';
import type { Logger } from '../log.ts';
import { isLoopbackHost } from '../model/uris.ts';
import type { Booted } from './boot.ts';
import { createFirstAdminFromConfig } from './first-administrator.ts';
import { listenProblem } from './fixable-problem.ts';
import { greet } from './greeting.ts';
import { openApp } from './open-app.ts';
import type { Running } from './workers.ts';

// Draining and finishing share one limit, with time left for the jobs and the store: platforms send SIGKILL after 30 s.
const SERVING_MS = 24_000;
const FINISH_MS = 20_000;
// Connections that the primary process has accepted and that are still on their way to this one.
const HANDED_OVER_MS = 500;

/** The most common problem of a first start is reported in one line, without a stack. */
async function listenOrExit(server: HttpServer, config: Config, log: Logger): Promise<number> {
  try {
    return await listen(server, config);
  } catch (error) {
    const problem = listenProblem(error, config);
    if (problem === undefined) throw error;
    log.fatal(problem);
    return process.exit(1);
  }
}

export async function serve({ config, log }: Booted): Promise<Running> {
  let server: HttpServer | undefined;
  const { app, close } = await openApp({
    config,
    log,
    isDraining: () => server?.isDraining === true,
    worker: String(cluster.worker?.id ?? 0),
  });
  await createFirstAdminFromConfig({ admin: config.admin, accounts: app.accounts, log });
  const { protocol, hostname } = new URL(config.baseUrl);
  server = createHttpServer({
    handler: app.handler,
    isSecure: protocol === 'https:',
    loopbackHost: isLoopbackHost(hostname) ? hostname : undefined,
  });
  const running = server;
  const port = await listenOrExit(running, config, log);
  // With an external database, `worker` processes run the jobs (Procfile).
  if (config.mongodbUri === undefined) app.jobs.start();
  if (cluster.worker === undefined || cluster.worker.id === 1) {
    greet({ port, config, hasAdmin: await app.accounts.hasAdmin(), log });
  }
  return {
    waitsFor() {
      const count = requestsIn(running);
      return count === 0 ? undefined : count === 1 ? 'a request to end' : `${count} requests to end`;
    },
    async stop(reason) {
      // Only a deployment has a balancer that needs time to notice.
      const drained = reason === 'SIGTERM' ? config.drainSeconds * 1_000 : 0;
      const drainMs = Math.max(drained, cluster.isWorker ? HANDED_OVER_MS : 0);
      await stopServer(running, { graceMs: Math.min(FINISH_MS, SERVING_MS - drainMs), drainMs });
      await close();
    },
  };
}
