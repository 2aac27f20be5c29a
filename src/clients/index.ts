// Applications: OAuth clients with their metadata rules, secrets, registration and initial access tokens (clients.ts, where to
// start), API keys (api-keys.ts), and the client that our own pages sign in as (console-client.ts). What a client may be given
// for a user is decided by the protocol core; the library's schema of metadata is its, too (`validateMetadata`).
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { Logger } from '../log.ts';
import { apiKeys as apiKeyCollection } from '../store/administration.ts';
import { apis as apiCollection } from '../store/apis.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { type ApiKeys, createApiKeys } from './api-keys.ts';
import { createClients } from './clients.ts';
import { type CodeExchanges, createCodeExchanges } from './code-exchanges.ts';
import { seedConsoleClient } from './console-client.ts';

import type { Clients, ClientsDeps } from './contract.ts';
import { createDefaultApis } from './default-apis.ts';
import { registerFormerFirstParty } from './former-first-party.ts';
import { createQuarantined, type Quarantined } from './quarantined.ts';
import { createRecentRefusals, type RecentRefusals } from './recent-refusals.ts';
import { createRegisteredOrigins, type IsRegisteredOrigin } from './registered-origins.ts';

export { accountScopesOf, isFirstParty, scopeWithAccount } from './account-scopes.ts';
export { acrFrom, isBelowRequired } from './acr.ts';
export type { ApiKey, ApiKeys } from './api-keys.ts';
export {
  type Client,
  type ClientView,
  publicMetadata,
  readClient,
  toClient,
} from './application.ts';
export {
  type CalledMember,
  calledAddresses,
  calledMemberNames,
  calledMembers,
  isApprovedAddress,
} from './approved-addresses.ts';
export type { CodeExchanges } from './code-exchanges.ts';
export { CONSOLE_CLIENT_ID } from './console-client.ts';
export type { Clients, ClientsDeps } from './contract.ts';
export type { InitialAccessToken } from './initial-access-tokens.ts';
export { hasLegacyProfile, listOf, ordinaryMetadata } from './legacy.ts';
export { hasOrigin } from './origins.ts';
export { createIsOwnAddress } from './own-addresses.ts';
export { hasToUsePkce, isPkceRequired, whyPkceAlways } from './pkce.ts';
export { statementOf } from './quarantine.ts';
export { isUseStale, type Quarantined } from './quarantined.ts';
export type { RecentRefusals } from './recent-refusals.ts';
export { isOfFapi, isRotating } from './refresh-rotation.ts';
export type { IsRegisteredOrigin } from './registered-origins.ts';
export { createFindRestricted, restrictedTo } from './restricted.ts';
export { isSecretOf, rotated, SECRET_BYTES } from './secrets.ts';
export { needsConfirmedAddress } from './unconfirmed-address.ts';

interface Deps
  extends Pick<ClientsDeps, 'validateMetadata' | 'endClient' | 'missingGroups' | 'baseUrl' | 'mayBePlain'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: () => {
    readonly require_pkce: boolean;
    readonly agents: boolean;
    readonly legacy_profiles: boolean;
  };
  readonly events: Pick<Events, 'on' | 'emit' | 'emitAndWait' | 'record'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export interface ClientDomain {
  readonly clients: Clients;
  readonly apiKeys: ApiKeys;
  readonly codeExchanges: CodeExchanges;
  readonly refusals: RecentRefusals;
  readonly quarantined: Quarantined;
  readonly isRegisteredOrigin: IsRegisteredOrigin;
}

export function createClientDomain({ store, clock, events, settings, log, ...deps }: Deps): ClientDomain {
  const common = { clock, newId, newSecret, secretDigest };
  const refusals = createRecentRefusals({
    collection: store.ephemeral(model.clientRefusals),
    clients: store.collection(model.clients),
    clock,
    log,
  });
  events.on('requestRefused', refusals.noted);
  events.on('clientRemoving', ({ clientId }) => refusals.forget(clientId));
  const collection = store.collection(model.clients);
  const apis = createDefaultApis({ apis: store.collection(apiCollection), clients: collection });
  events.on('apiRemoving', ({ apiId }) => apis.forget(apiId));
  const clients = createClients({
    ...deps,
    ...common,
    findApi: apis.find,
    clientRemoving: (clientId) => events.emitAndWait('clientRemoving', { clientId }),
    isOpenToAgents: () => settings().agents,
    hasLegacyProfiles: () => settings().legacy_profiles,
    collection,
    initialAccessTokens: store.collection(model.initialAccessTokens),
  });
  return {
    refusals,
    clients,
    isRegisteredOrigin: createRegisteredOrigins({ collection, clock }),
    quarantined: createQuarantined({ collection, clients, clock }),
    apiKeys: createApiKeys({ ...common, collection: store.collection(apiKeyCollection), events }),
    codeExchanges: createCodeExchanges({
      clients: store.collection(model.clients),
      runs: store.ephemeral(model.pkceRuns),
      clock,
      settings,
      events,
      log,
    }),
  };
}

/** At each start, before anything is served. */
export async function prepareApplications({
  clients,
  baseUrl,
  store,
  log,
  startProtocol,
}: Pick<Deps, 'store' | 'log'> & {
  readonly clients: Clients;
  readonly baseUrl: string;
  /** Makes the discovery document, which says what applications may use, and what checks their metadata. */
  readonly startProtocol: () => Promise<unknown>;
}): Promise<void> {
  await registerFormerFirstParty({ collection: store.collection(model.clients), log });
  await startProtocol();
  await seedConsoleClient({ clients, baseUrl });
}
