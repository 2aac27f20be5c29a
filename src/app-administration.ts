// Owns putting together what only the admin API needs (app-http.ts serves it).
import { createApiKeys } from './clients/api-keys.ts';
import type { Clock } from './clock.ts';
import { newId, newSecret, secretDigest } from './ids.ts';
import * as model from './store/administration.ts';
import type { Store } from './store/port.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
}

export function createAdministration({ store, clock }: Parts) {
  return {
    apiKeys: createApiKeys({
      collection: store.collection(model.apiKeys),
      clock,
      newId,
      newSecret,
      secretDigest,
    }),
  };
}
