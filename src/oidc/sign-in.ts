// For the sign-in pages (interactions/), which are the other half of oidc-provider's interactions: the library's types as we
// use them, the interaction and what it asks for, and the pages that the core wants rendered. Everything else uses index.ts.

export { ACR, statementOf } from '../clients/index.ts';
export { acrOf } from './acr.ts';
export { type AcrDemand, type AcrDemandDeps, createAcrDemand } from './acr-demand.ts';
export { apiToConsent, wordsOfEntries } from './api-consent.ts';
export type { BrowserSession } from './browser-session.ts';
export type { DevicePages } from './configuration.ts';
export { claimsToConsent, missingScopes, scopesToConsent, strangerOf } from './consent-request.ts';
export { consoleSignInUrl } from './console-sign-in.ts';
export type { ProtocolPages } from './create-provider.ts';
export type { IdentityProvider } from './identity-provider.ts';
export type { Client, ErrorOut, InteractionResults, KoaContextWithOIDC } from './library-types.ts';
export type { LogoutPages } from './logout.ts';
export { clientRecord } from './models/client.ts';
export type { SessionGrant } from './models/grant.ts';
export type { BoundInteraction, SigninProgress } from './models/interaction.ts';
