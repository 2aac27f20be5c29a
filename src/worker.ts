// Process entry of `worker`: the background jobs without HTTP. Any number of `worker` and `web` processes can run: a lease
// in the store lets one at a time run a job.
import type { Booted } from './process/boot.ts';
import { answerArguments, WORKER_HELP } from './process/command-line.ts';
import { storesOf } from './process/greeting.ts';
import { version } from './process/version.ts';
import type { Running } from './process/workers.ts';

async function start({ config, log }: Booted): Promise<Running> {
  const { openApp } = await import('./process/open-app.ts');
  const { app, close } = await openApp({ config, log });
  app.jobs.start();
  log.info({ ...storesOf(config), version }, 'running background jobs');
  return { stop: close };
}

const exitCode = answerArguments(process.argv.slice(2), WORKER_HELP);
if (exitCode === undefined) {
  const [{ boot }, { runWorkers }] = await Promise.all([
    import('./process/boot.ts'),
    import('./process/workers.ts'),
  ]);
  const booted = boot();
  await runWorkers({ count: 1, start: () => start(booted), log: booted.log });
} else process.exitCode = exitCode;
