// `npm run release`, the `release` process of a deployment: checks every store, creates indexes and derives again what a changed
// data model needs, before the first process of this version starts.
import { prepareStore } from '../adapters/index.ts';
import { systemClock } from '../src/clock.ts';
import { ConfigError, loadConfig } from '../src/config/load.ts';
import { fixableProblem } from '../src/process/fixable-problem.ts';
import { StoreUnavailable } from '../src/store/port.ts';

try {
  const config = loadConfig(process.env);
  const started = performance.now();
  const log = {
    warn: (_: object, message: string) => console.error(`Warning: ${message}`),
    info: (_: object, message: string) => console.log(message),
  };
  await prepareStore({ config, clock: systemClock, log });
  console.log(`The store is ready for this version (${Math.round(performance.now() - started)} ms).`);
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StoreUnavailable)) throw error;
  console.error(fixableProblem(error) ?? error.message);
  process.exitCode = 1;
}
