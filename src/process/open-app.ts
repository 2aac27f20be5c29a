// The application on its store: what a process needs that serves or runs jobs, but not the primary of several.
import { openStore } from '../../adapters/index.ts';
import type { UpgradeLine } from '../../adapters/sqlite/upgrade.ts';
import { type App, createApp } from '../app/create-app.ts';
import { systemClock } from '../clock.ts';
import type { Booted } from './boot.ts';
import { createProgress } from './progress.ts';
import { version } from './version.ts';

export interface OpenApp {
  readonly app: App;
  /** Stops the background jobs, then closes the store. */
  close(): Promise<void>;
}

/**
 * @param options.isDraining whether this process is shutting down
 * @param options.line what is shown at the terminal already, if anything
 * @param options.worker index among the processes that share the port
 * @throws StoreUnavailable when the store cannot be opened
 */
export async function openApp(
  options: Booted & { isDraining?: () => boolean; worker?: string; line?: UpgradeLine | undefined },
): Promise<OpenApp> {
  const { config, log } = options;
  const ownLine = process.stdout.isTTY === true ? createProgress({ unit: 'documents' }) : undefined;
  const { line = ownLine } = options;
  const store = await openStore({ config, clock: systemClock, log, line });
  const app = await createApp({ ...options, store, clock: systemClock, version });
  return {
    app,
    async close() {
      await app.jobs.stop();
      await store.close();
    },
  };
}
