// Finishes what a crash or a lost store interrupted: deletions of accounts and groups, endings of sessions and applications,
// removals of APIs and scopes.
// Each was written down before anything else was done, so it is found however much later this runs.
import type { Apis } from '../apis/index.ts';
import type { Clients } from '../clients/index.ts';
import type { Job } from '../jobs/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { Accounts } from './contract.ts';
import type { Groups } from './groups.ts';

interface Deps {
  readonly accounts: Pick<Accounts, 'finishDeletions'>;
  readonly groups: Pick<Groups, 'finishRemovals'>;
  readonly clients: Pick<Clients, 'finishEndings'>;
  readonly apis: Pick<Apis, 'finishEndings'>;
  readonly sessions: Pick<Sessions, 'finishEndings'>;
  readonly settings: () => { readonly purge_interval_seconds: number };
}

export function finishInterrupted({ accounts, groups, clients, apis, sessions, settings }: Deps): Job {
  return {
    name: 'finish_interrupted',
    intervalSeconds: () => settings().purge_interval_seconds,
    async run() {
      const deletions = await accounts.finishDeletions();
      return {
        deletions_finished: deletions + (await groups.finishRemovals()),
        // Revokes once more what deactivated applications had.
        clients_checked: await clients.finishEndings(),
        apis_finished: await apis.finishEndings(),
        endings_finished: await sessions.finishEndings(),
      };
    },
  };
}
