// APIs: the resources (RFC 8707) that access tokens are issued for, with their scopes, who may have these, and the credentials
// with which an API introspects (contract.ts, where to start). What a request for an API gets, and what its tokens hold, is
// decided by the protocol core. It reads an API from the store at every use, so that a removal counts at once in every process.
import type { Clients } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { apis as apiCollection } from '../store/apis.ts';
import type { Store } from '../store/port.ts';
import { update } from '../store/update.ts';
import { pagesOf } from '../store/walk.ts';
import { createApis } from './apis.ts';
import { withoutClient } from './change-api.ts';
import type { Apis, ApisDeps } from './contract.ts';

export { accessTokenSeconds, createFindApiForGroup, forGroup, isListed, isOpenTo } from './access.ts';
export { isIntrospectionClientId } from './apis.ts';
export { type ApiView, toApi } from './change-api.ts';
export type { Api, Apis } from './contract.ts';
export { splitScope } from './identifier.ts';
export { machineScopes, mayGrant } from './scopes.ts';

interface Deps extends Pick<ApisDeps, 'clock' | 'issuer'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Pick<Events, 'on' | 'emitAndWait'>;
  readonly clients: Pick<Clients, 'find'>;
  readonly groups: { readonly missing: ApisDeps['missingGroups'] };
}

export function createApiDomain({ store, clock, issuer, events, clients, groups }: Deps): Apis {
  const collection = store.collection(apiCollection);

  async function forgetClient(clientId: string): Promise<void> {
    for await (const items of pagesOf(collection, { limit: 1000 })) {
      for (const { id } of items.filter((api) => withoutClient(api.value, clientId) !== undefined)) {
        await update(collection, id, (record) => {
          const next = withoutClient(record, clientId);
          return next && { value: next };
        });
      }
    }
  }

  events.on('clientRemoving', ({ clientId }) => forgetClient(clientId));
  return createApis({
    collection,
    clock,
    issuer,
    clients,
    missingGroups: groups.missing,
    apiRemoving: (apiId) => events.emitAndWait('apiRemoving', { apiId }),
    scopesRemoving: (apiId, scopeIds) => events.emitAndWait('apiScopesRemoving', { apiId, scopeIds }),
  });
}
