// Removes the accounts whose owners asked for it, when the day that they were told has come.
import { inBatches, type Job } from '../jobs/index.ts';
import type { Accounts } from './accounts.ts';

interface Deps {
  readonly accounts: Pick<Accounts, 'ownDeletions'>;
  readonly settings: () => { readonly purge_interval_seconds: number };
}

export function removeDueAccounts({ accounts: { ownDeletions }, settings }: Deps): Job {
  return {
    name: 'remove_due_accounts',
    intervalSeconds: () => settings().purge_interval_seconds,
    async run(signal) {
      await ownDeletions.endSessionsOfLeaving();
      return { accounts_removed: await inBatches(ownDeletions.removeDue, signal) };
    },
  };
}
