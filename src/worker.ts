// Process entry of `worker`: the background jobs without HTTP. Any number of `worker` and `web` processes can run: a lease
// in the store lets one at a time run a job.
import { type Booted, boot, version } from './process/boot.ts';
import { openApp } from './process/open-app.ts';
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
