// All collections: a store opens, the sweeper sweeps and a copy copies exactly these.
import * as administration from './administration.ts';
import { apis } from './apis.ts';
import { avatars } from './avatars.ts';
import * as model from './collections.ts';
import { looks, lookVersions, pictures } from './looks.ts';
import { passkeyChallenges, passkeys } from './passkeys.ts';
import type { CollectionDefinition } from './port.ts';
import * as protocol from './protocol-collections.ts';
import { enrolments, invitations, signups } from './signups.ts';
import { userImportParts, userImports } from './user-imports.ts';

// A list of many types: its users treat records as opaque, which is what `never` says.
export const allCollections: readonly CollectionDefinition<never>[] = [
  model.accounts,
  administration.groups,
  passkeys,
  passkeyChallenges,
  model.trustedDevices,
  model.emailChallenges,
  model.links,
  model.emailChanges,
  avatars,
  signups,
  invitations,
  enrolments,
  userImports,
  userImportParts,
  model.mails,
  model.mailRequests,
  model.audit,
  model.rates,
  model.clients,
  model.initialAccessTokens,
  model.pkceRuns,
  model.logoutDeliveries,
  model.clientRefusals,
  apis,
  administration.apiKeys,
  administration.eventHours,
  administration.tokenEvents,
  administration.idempotencyKeys,
  administration.testSignIns,
  model.consents,
  model.sessions,
  protocol.grants,
  protocol.refreshTokens,
  protocol.accessTokens,
  protocol.clientCredentials,
  protocol.authorizationCodes,
  protocol.deviceCodes,
  protocol.oidcSessions,
  protocol.interactions,
  protocol.pushedRequests,
  protocol.replayMarkers,
  model.settings,
  looks,
  lookVersions,
  pictures,
  model.signingKeys,
  model.oneTime,
  model.leases,
  model.facts,
] as unknown as readonly CollectionDefinition<never>[];
