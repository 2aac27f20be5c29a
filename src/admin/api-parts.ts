// What only the admin API uses: statistics, issued tokens, and replies kept for `Idempotency-Key`.
import { createStatistics } from '../audit/index.ts';
import type { Domains } from '../domains.ts';
import { createIssuedTokens } from '../sessions/index.ts';
import * as administration from '../store/administration.ts';
import * as model from '../store/collections.ts';
import { createCursors } from './api/cursor.ts';
import { createIdempotency } from './api/idempotency.ts';
import { createStats } from './resources/stats/compute.ts';

export function createApiParts({
  store,
  clock,
  sealer,
  grants,
  cookieKeys: [cursorKey = ''],
}: Pick<Domains, 'store' | 'clock' | 'sealer' | 'grants' | 'cookieKeys'>) {
  const audit = store.collection(model.audit);
  const hours = store.collection(administration.eventHours);
  return {
    cursors: createCursors({ key: cursorKey }),
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
