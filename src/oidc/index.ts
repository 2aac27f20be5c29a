// The protocol core: oidc-provider, our models in place of some of its own, and endpoints of ours (decision 0016). It owns
// everything under /oauth2, the two discovery documents, and who a bearer or a browser session stands for. It does not own
// sign-in pages (interactions/) nor accounts, clients, sessions and keys, which it reads by their domains.
// Start with create-provider.ts (the library and what surrounds it) and routes.ts (the order of endpoints). The sign-in pages,
// which answer for the library, have a door of their own: sign-in.ts.
import type Koa from 'koa';
import type { ClientsDeps } from '../clients/index.ts';
import type { Config } from '../config/types.ts';
import { pinOrigin, readJson, securityHeaderValues } from '../http/index.ts';
import { secretDigest } from '../ids.ts';
import type { KeySet } from '../keys/index.ts';
import { oidcSessions } from '../store/protocol-collections.ts';
import { createProvider, type ProviderDeps } from './create-provider.ts';
import type { ProtocolDoors, ProtocolState } from './doors.ts';
import { createGrantsInUse } from './entitlements/grants-in-use.ts';
import { followSetting } from './legacy/index.ts';
import type { LogoutPages } from './logout/logout.ts';
import { normalizeMetadata } from './models/client.ts';
import type { ProtocolMount } from './mount.ts';
import type { MountedDoors } from './mounted-doors.ts';
import { ProviderBase } from './provider-base.ts';
import { registrationRoutes } from './requests/registration.ts';
import { createRepeatWatch } from './requests/repeated-values.ts';
import { createHasOrigin } from './requests/request-client.ts';
import { protocolRoutes } from './routes.ts';
import { cookieNamesFor, createBrowserSession } from './sign-in/browser-session.ts';
import { createSignedInUsers } from './sign-in/signed-in-user.ts';
import { withTried } from './test-sign-in.ts';
import { createDpopProofs } from './tokens/dpop.ts';
import { registerPasswordGrant } from './tokens/password-grant.ts';
import { createSharedModels } from './tokens/shared-models.ts';
import { createSessionOfToken } from './tokens/token-session.ts';
import { createTokenState } from './tokens/token-state.ts';

export type { ProtocolDoors } from './doors.ts';
export {
  type ConfirmSession,
  createAccountDirectory,
  createConfirmSession,
} from './entitlements/account-directory.ts';
export { acrOf } from './entitlements/acr.ts';
export { mayUse } from './entitlements/client-access.ts';
export type { AccountDirectory } from './entitlements/find-account.ts';
export { claimsByScope, scopes } from './entitlements/scopes.ts';
export { aliases } from './foreign-layout/aliases.ts';
export { createLogoutDeliveries, type LogoutDeliveries } from './logout/logout-deliveries.ts';
export type { LogoutDelivery } from './logout/logout-outbox.ts';
export { createMount, type ProtocolMount } from './mount.ts';
export {
  type CalledAddress,
  createReadCalledAddresses,
  type ReadCalledAddresses,
} from './outbound/called-addresses.ts';
export { createFetchDocument } from './outbound/fetch-document.ts';
export { createOutbound } from './outbound/outbound.ts';
export { createPlain, type PlainAnswers } from './plain/index.ts';
export { withDrafts } from './preview/draft.ts';
export {
  createTokenPreview,
  type PreviewTokens,
  type TokenPreview,
} from './preview/index.ts';
export { DIFFERS } from './preview/parts.ts';
export { type Answer, createRedeemCode, type RedeemCode } from './redeem-code.ts';
export { authorizationIn } from './requests/document-clients.ts';
export type { BrowserSession } from './sign-in/browser-session.ts';
export { consoleSignInUrl } from './sign-in/console-sign-in.ts';
export { type Purpose, stateFor } from './sign-in/purpose.ts';
export type { SignedInUser, SignedInUsers } from './sign-in/signed-in-user.ts';
export { TRY_CALLBACK } from './test-sign-in.ts';
export { type Bearers, createBearers } from './tokens/bearers.ts';
export { createRevokeToken } from './tokens/revocation.ts';
export { describeToken, type TokenState } from './tokens/token-state.ts';
export { vouchFor } from './vouched-requests.ts';

/** @returns the request of the protocol in whose course this is called; undefined outside of them */
export const currentRequest = (): object | undefined => ProviderBase.ctx;

export function createProtocolState(doors: MountedDoors): ProtocolState {
  const { mount, directory, clients, apis, settings, clock, secretKeys } = doors;
  const provider = () => mount.provider;
  const find = withTried(clients.find, doors.baseUrl);
  const findClient = async (id: string) => (await find(id))?.value;
  const jwt = () => mount.jwt;
  const cookieNames = cookieNamesFor(doors.baseUrl.startsWith('https:'));
  const browser = createBrowserSession({ provider, cookieNames, settings, clock });
  const ofTokens = { jwt, apis, settings, clock };
  const sharedModels = createSharedModels({ models: provider, jwt, store: doors.store });
  return {
    tokens: createTokenState({ ...ofTokens, models: provider, accounts: directory, findClient }),
    sharedTokens: createTokenState({
      ...ofTokens,
      models: () => sharedModels,
      accounts: { ...directory, find: directory.findShared },
      findClient: async (id) => (await clients.findShared(id))?.value,
    }),
    sessionOf: createSessionOfToken(provider),
    browser,
    signedIn: createSignedInUsers({ browser, directory, settings }),
    hasOrigin: createHasOrigin({ jwt, findClient }),
    dpop: createDpopProofs({ models: provider, clock, secretKeys }),
  };
}

/** @returns what takes a key set into use: a provider built for it replaces the one before */
export function createProtocol(
  doors: ProtocolDoors,
  ours: Pick<ProviderDeps, 'adapter' | 'isHandle' | 'pages'> & Pick<Config, 'trustProxy'>,
): (keySet: KeySet) => Promise<void> {
  const { mount, store, clock, settings, csrf, baseUrl, clients, directory, grants, sessions } = doors;
  const isSecure = baseUrl.startsWith('https:');
  const pinned = { baseUrl, trustProxy: ours.trustProxy, keys: doors.cookieKeys };
  const common: Omit<ProviderDeps, 'keys' | 'hasLegacy'> = {
    ...doors,
    ...doors.guards,
    ...ours,
    outbound: doors.outbound.fetch,
    codeRedeemed: doors.codeExchanges.redeemed,
    cookieNames: cookieNamesFor(isSecure),
    accounts: directory,
    findConsent: doors.consents.find,
    findClient: withTried(clients.find, baseUrl),
    verifySecret: clients.verifySecret,
    browserDigest: (ctx) => secretDigest(csrf.browserId(ctx)),
    sessions: {
      collection: store.ephemeral(oidcSessions),
      clock,
      recordActivity: sessions.note,
      recordUse: sessions.noteUse,
      confirm: doors.confirmSession,
    },
    endSession: sessions.end,
    graceSeconds: () => settings().refresh_token_grace_seconds,
    revokeGrant: grants.revoke,
    codeIssued: createRepeatWatch(doors.log).codeIssued,
    pinOrigin: (app) => pinOrigin(app, pinned),
    grantsInUse: createGrantsInUse(doors),
    documentHeaders: securityHeaderValues({ isSecure }),
    registerGrants: (provider) =>
      registerPasswordGrant(provider, {
        clock,
        accounts: directory,
        authenticate: doors.authenticate,
        revokeGrant: grants.revoke,
        dpop: createDpopProofs({ models: () => provider, clock, secretKeys: doors.secretKeys }),
      }),
  };
  let newest: KeySet | undefined;
  let hasLegacy: boolean | undefined;
  async function build(): Promise<void> {
    if (newest === undefined) return;
    const keys = {
      currentPrivateJwk: newest.current.privateJwk,
      currentEs256PrivateJwk: newest.currentEs256.privateJwk,
      publicJwks: newest.all,
      jwks: newest.jwks(),
    };
    const isOn = settings().legacy_profiles;
    mount.replace(await createProvider({ ...common, keys, hasLegacy: isOn }));
    hasLegacy = isOn;
  }
  // One after the other, so that none puts older keys in the place of newer ones.
  let building = Promise.resolve();
  function rebuild(): Promise<void> {
    const built = building.then(build);
    building = built.catch(() => undefined);
    return built;
  }
  const isOn = () => settings().legacy_profiles;
  mount.waitFor(followSetting({ isOn, isBuiltWith: () => hasLegacy, rebuild }));
  return (keySet) => {
    newest = keySet;
    return rebuild();
  };
}

/** Everything under /oauth2, in the order in which it is to be used. */
export function createProtocolRoutes(doors: ProtocolDoors, logoutPages: LogoutPages): Koa.Middleware[] {
  const registration = registrationRoutes({
    ...doors,
    ...doors.agents,
    readJson,
    path: '/oauth2/register',
    publicUrl: `${doors.baseUrl}/oauth2/register`,
  });
  return protocolRoutes(doors, logoutPages, registration);
}

/** The library's own schema of client metadata, as it is with the provider in use. */
export const createValidateMetadata =
  (mount: ProtocolMount): ClientsDeps['validateMetadata'] =>
  async (metadata) =>
    normalizeMetadata(mount.provider.Client, metadata);
