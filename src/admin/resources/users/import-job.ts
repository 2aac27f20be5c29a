// Goes on with the imports of users that run. What they take is loaded when there is one.
import type { Job } from '../../../jobs/index.ts';
import type { UserImports } from './import-records.ts';

/** Short: an administrator is looking at the bar. */
const INTERVAL_SECONDS = 2;

export function importUsers(deps: {
  readonly imports: Pick<UserImports, 'running'>;
  /** @returns how many rows are done */
  readonly goOn: (signal: AbortSignal) => Promise<number>;
}): Job {
  return {
    name: 'import_users',
    intervalSeconds: () => INTERVAL_SECONDS,
    async run(signal) {
      const running = await deps.imports.running();
      return { users_imported: running.length === 0 ? 0 : await deps.goOn(signal) };
    },
  };
}
