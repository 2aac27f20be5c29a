// Owns the list of every collection: what a store opens, the sweeper walks and a copy copies. A collection that is
// missing here does not exist for them.
import * as administration from './administration.ts';
import * as model from './collections.ts';
import type { CollectionDefinition } from './port.ts';

// A list of many types: whoever walks it treats records as opaque, which is what `never` says.
export const allCollections: readonly CollectionDefinition<never>[] = [
  model.accounts,
  administration.groups,
  model.trustedDevices,
  model.emailChallenges,
  model.links,
  model.mails,
  model.mailRequests,
  model.audit,
  model.rates,
  model.clients,
  model.initialAccessTokens,
  administration.apiKeys,
  administration.eventHours,
  administration.idempotencyKeys,
  model.consents,
  model.sessions,
  model.grants,
  model.refreshTokens,
  model.accessTokens,
  model.clientCredentials,
  model.authorizationCodes,
  model.deviceCodes,
  model.oidcSessions,
  model.interactions,
  model.pushedRequests,
  model.replayMarkers,
  model.settings,
  model.signingKeys,
  model.leases,
  model.facts,
] as unknown as readonly CollectionDefinition<never>[];
