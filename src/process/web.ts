// The `web` process. Where several share the port, their primary only starts and watches them: it does not load serve.ts,
// which is nearly all of the program.
import { boot } from './boot.ts';
import { runWorkers } from './workers.ts';

export async function runWeb(): Promise<void> {
  const booted = boot();
  const { config, log } = booted;
  const start = async () => {
    const { serve } = await import('./serve.ts');
    return serve(booted);
  };
  await runWorkers({ count: config.webConcurrency, start, log });
}
