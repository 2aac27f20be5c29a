// Removes the accounts whose owners asked for it, when the day that they were told has come.
import type { Job } from '../jobs/index.ts';
import type { Accounts } from './contract.ts';

interface Deps {
  readonly accounts: Pick<Accounts, 'ownDeletions'>;
  readonly settings: () => { readonly purge_interval_seconds: number };
}

export function removeDueAccounts({ accounts: { ownDeletions }, settings }: Deps): Job {
  return {
    name: 'remove_due_accounts',
    intervalSeconds: () => settings().purge_interval_seconds,
    run: async (signal) => ({ accounts_removed: await ownDeletions.run(signal) }),
  };
}
