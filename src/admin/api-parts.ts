// What only the admin API uses: statistics, issued tokens, and replies kept for `Idempotency-Key`.
import { createStatistics } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Grants } from '../sessions/index.ts';
import { createIssuedTokens } from '../sessions/index.ts';
import * as administration from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createIdempotency } from './api/idempotency.ts';
import { createStats } from './resources/stats/compute.ts';

export interface ApiPartsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Parameters<typeof createIdempotency>[0]['sealer'];
  readonly grants: Pick<Grants, 'revoke'>;
}

export function createApiParts({ store, clock, sealer, grants }: ApiPartsDeps) {
  const audit = store.collection(model.audit);
  const hours = store.collection(administration.eventHours);
  return {
    idempotency: createIdempotency({
      collection: store.collection(administration.idempotencyKeys),
      sealer,
      clock,
    }),
    stats: createStats({
      statistics: createStatistics({ audit, collection: hours, clock }),
      clock,
      counted: {
        accounts: store.collection(model.accounts),
        clients: store.collection(model.clients),
        groups: store.collection(administration.groups),
        sessions: store.collection(model.sessions),
        mails: store.collection(model.mails),
      },
    }),
    issuedTokens: createIssuedTokens({ store, grants }),
  };
}
