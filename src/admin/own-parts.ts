// What only the admin API uses: imports, statistics, issued tokens, and replies kept for `Idempotency-Key`.

import { createPrepareImport } from '../accounts/import.ts';
import type { Groups, RefusalTime } from '../accounts/index.ts';
import { createStatistics } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import { newId } from '../ids.ts';
import type { Grants } from '../sessions/index.ts';
import { createIssuedTokens } from '../sessions/index.ts';
import * as administration from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createIdempotency } from './api/idempotency.ts';

export interface OwnPartsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Parameters<typeof createIdempotency>[0]['sealer'];
  readonly grants: Pick<Grants, 'revoke'>;
  readonly groups: Groups;
  readonly refusalTime: Pick<RefusalTime, 'note'>;
}

export function createOwnParts({ store, clock, sealer, grants, groups, refusalTime }: OwnPartsDeps) {
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
  };
}
