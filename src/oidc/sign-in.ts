// For the sign-in pages (interactions/), which are the other half of oidc-provider's interactions: the library's types as we
// use them, the interaction and what it asks for, and the pages that the core wants rendered. Everything else uses index.ts.

export { statementOf } from '../clients/index.ts';
export type { DevicePages } from './configuration.ts';
export type { ProtocolPages } from './create-provider.ts';
export { acrOf } from './entitlements/acr.ts';
export { type AcrDemand, createAcrDemand } from './entitlements/acr-demand.ts';
export { apiToConsent, wordsOfEntries } from './entitlements/api-consent.ts';
export {
  claimsToConsent,
  missingScopes,
  scopesToConsent,
  strangerOf,
} from './entitlements/consent-request.ts';
export type { Client, ErrorOut, InteractionResults, KoaContextWithOIDC } from './library-types.ts';
export type { LogoutPages } from './logout/logout.ts';
export { clientRecord } from './models/client.ts';
export type { SessionGrant } from './models/grant.ts';
export type { BoundInteraction, SigninProgress } from './models/interaction.ts';
export { consoleSignInUrl } from './sign-in/console-sign-in.ts';
export { isForAdminUi, purposeOf } from './sign-in/purpose.ts';
