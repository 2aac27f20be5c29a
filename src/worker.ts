// Owns the process entry of `worker`: the background jobs alone, without HTTP. Any number of them, beside any number of
// `web` processes, is safe: a lease in the store lets one run a job at a time.
import { type Booted, boot, openApp, version } from './process/boot.ts';
import { type Running, runWorkers } from './process/workers.ts';

async function start({ config, log }: Booted): Promise<Running> {
  const { app, close } = await openApp({ config, log });
  app.jobs.start();
  const store = config.mongodbUri === undefined ? { data_dir: config.dataDir } : {};
  log.info({ ...store, version }, 'running background jobs');
  return { stop: close };
}

const booted = boot();
await runWorkers({ count: 1, start: () => start(booted), log: booted.log });
