// Owns putting together what only the admin API needs (http.ts serves it).
import type { Groups } from '../accounts/groups.ts';
import { createPrepareImport } from '../accounts/import.ts';
import type { RefusalTime } from '../accounts/passwords/refusal-time.ts';
import { createIdempotency } from '../admin/api/idempotency.ts';
import { createStatistics } from '../audit/statistics.ts';
import { createApiKeys } from '../clients/api-keys.ts';
import type { Clock } from '../clock.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { Grants } from '../sessions/grants.ts';
import { createIssuedTokens } from '../sessions/issued-tokens.ts';
import * as administration from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Parameters<typeof createIdempotency>[0]['sealer'];
  readonly grants: Pick<Grants, 'revoke'>;
  readonly groups: Groups;
  readonly refusalTime: Pick<RefusalTime, 'note'>;
}

export function createAdministration({ store, clock, sealer, grants, groups, refusalTime }: Parts) {
  const audit = store.collection(model.audit);
  const hours = store.collection(administration.eventHours);
  return {
    prepareImport: createPrepareImport({
      collection: store.collection(model.accounts),
      groups,
      noteHash: refusalTime.note,
      clock,
      newId,
    }),
    idempotency: createIdempotency({
      collection: store.collection(administration.idempotencyKeys),
      sealer,
      clock,
    }),
    stats: {
      statistics: createStatistics({ audit, collection: hours, clock }),
      counted: {
        accounts: store.collection(model.accounts),
        clients: store.collection(model.clients),
        groups: store.collection(administration.groups),
        sessions: store.collection(model.sessions),
        mails: store.collection(model.mails),
      },
    },
    issuedTokens: createIssuedTokens({ store, grants }),
    apiKeys: createApiKeys({
      collection: store.collection(administration.apiKeys),
      clock,
      newId,
      newSecret,
      secretDigest,
    }),
  };
}
