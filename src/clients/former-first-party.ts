// At the upgrade: applications that were first-party when the account API was open to all of these are registered for its scope
// (decision 0023). Tokens and grants that exist gain nothing: a scope is granted at an authorization. Native applications are left
// out, since any program can take their codes (RFC 8252 §8.6).
import type { Logger } from '../log.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { update } from '../store/update.ts';

interface Deps {
  readonly collection: Collection<ClientRecord>;
  readonly log: Pick<Logger, 'info'>;
}

/** Safe in several processes at once, and again after a crash: what has an answer is not among them. */
export async function registerFormerFirstParty({ collection, log }: Deps): Promise<void> {
  for (const { id } of await collection.findBy('account_scopes', 'undecided')) {
    const changed = await update(collection, id, (value) => {
      if (value.accountScopes !== undefined) return undefined;
      const next: ClientRecord = { ...value, accountScopes: ['account'] };
      return { value: next };
    });
    if (changed !== undefined)
      log.info(
        { event: 'account_scope_registered', client_id: id },
        'the first-party application is registered for the scope account; what it holds does not gain it',
      );
  }
}
