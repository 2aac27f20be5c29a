// The protocol core: oidc-provider, our models in place of some of its own, and endpoints of ours (decision 0016). It owns
// everything under /oauth2, the two discovery documents, and who a bearer or a browser session stands for. It does not own
// sign-in pages (interactions/) nor accounts, clients, sessions and keys, which it reads by their domains.
// Start with create-provider.ts (the library and what surrounds it) and routes.ts (the order of endpoints). The sign-in pages,
// which answer for the library, have a door of their own: sign-in.ts.
import type Koa from 'koa';
import type { Account } from '../accounts/index.ts';
import type { Apis } from '../apis/index.ts';
import type { Clients, ClientsDeps } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import {
  type Csrf,
  type HasOrigin,
  pinOrigin,
  readForm,
  readJson,
  securityHeaderValues,
} from '../http/index.ts';
import { secretDigest } from '../ids.ts';
import type { KeySet } from '../keys/index.ts';
import type { Logger } from '../log.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Consents, Grants, Sessions } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import { oidcSessions } from '../store/protocol-collections.ts';
import { createProvider, type ProviderDeps } from './create-provider.ts';
import type { AccountDirectory } from './entitlements/find-account.ts';
import { createGrantsInUse, type GrantsInUseDeps } from './entitlements/grants-in-use.ts';
import { followSetting } from './legacy/index.ts';
import { normalizeMetadata } from './models/client.ts';
import type { ProtocolMount } from './mount.ts';
import { ProviderBase } from './provider-base.ts';
import { registrationRoutes } from './requests/registration.ts';
import { createRepeatWatch } from './requests/repeated-values.ts';
import { createHasOrigin } from './requests/request-client.ts';
import { protocolRoutes } from './routes.ts';
import { type BrowserSession, cookieNamesFor, createBrowserSession } from './sign-in/browser-session.ts';
import { createSignedInUsers, type SignedInUsers } from './sign-in/signed-in-user.ts';
import { withTried } from './test-sign-in.ts';
import type { Bearers } from './tokens/bearers.ts';
import { createDpopProofs, type DpopProofs } from './tokens/dpop.ts';
import { registerPasswordGrant } from './tokens/password-grant.ts';
import { createSharedModels } from './tokens/shared-models.ts';
import { createSessionOfToken, type SessionOfToken } from './tokens/token-session.ts';
import { createTokenState, type TokenState } from './tokens/token-state.ts';

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

interface StateDeps {
  readonly mount: ProtocolMount;
  readonly directory: AccountDirectory<Account>;
  readonly clients: Pick<Clients, 'find' | 'findShared'>;
  readonly apis: Pick<Apis, 'find'>;
  readonly store: Pick<Store, 'collection' | 'ephemeral'>;
  readonly baseUrl: string;
  readonly secretKeys: readonly string[];
  readonly settings: () => SettingValues;
  readonly clock: Clock;
}

/** What pages and APIs of ours ask about bearers and browsers. */
export interface ProtocolState {
  readonly tokens: TokenState;
  /** The same for who only reads what it finds. */
  readonly sharedTokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly browser: BrowserSession;
  readonly signedIn: SignedInUsers;
  readonly hasOrigin: HasOrigin;
  readonly dpop: DpopProofs;
}

export function createProtocolState(deps: StateDeps): ProtocolState {
  const { mount, directory, clients, apis, settings, clock, secretKeys } = deps;
  const provider = () => mount.provider;
  const find = withTried(clients.find, deps.baseUrl);
  const findClient = async (id: string) => (await find(id))?.value;
  const jwt = () => mount.jwt;
  const cookieNames = cookieNamesFor(deps.baseUrl.startsWith('https:'));
  const browser = createBrowserSession({ provider, cookieNames, settings, clock });
  const ofTokens = { jwt, apis, settings, clock };
  const sharedModels = createSharedModels({ models: provider, jwt, store: deps.store });
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

interface ProtocolDeps
  extends Pick<
    ProviderDeps,
    | 'adapter'
    | 'apis'
    | 'isHandle'
    | 'tokens'
    | 'revokeToken'
    | 'codeRedeemed'
    | 'browser'
    | 'events'
    | 'pages'
    | 'outbound'
  > {
  readonly mount: ProtocolMount;
  readonly config: Pick<Config, 'issuer' | 'baseUrl' | 'trustProxy' | 'cookieKeys' | 'secretKeys'> & {
    readonly basePath: string;
  };
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly accounts: {
    readonly directory: AccountDirectory<Account>;
    readonly authenticate: Parameters<typeof registerPasswordGrant>[1]['authenticate'];
    readonly confirmSession: ProviderDeps['sessions']['confirm'];
  };
  readonly clients: Pick<Clients, 'find' | 'verifySecret'> & GrantsInUseDeps['clients'];
  readonly sessions: {
    readonly sessions: Pick<Sessions, 'note'>;
    readonly grants: Pick<Grants, 'revoke'>;
    readonly consents: Pick<Consents, 'find'>;
  };
  readonly guards: Pick<ProviderDeps, 'chargeUserCode' | 'takePlace' | 'chargeRefusedClient'>;
  readonly csrf: Pick<Csrf, 'browserId'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** @returns what takes a key set into use: a provider built for it replaces the one before */
export function createProtocol(deps: ProtocolDeps): (keySet: KeySet) => Promise<void> {
  const { mount, config, store, clock, settings, csrf } = deps;
  const { directory, authenticate, confirmSession } = deps.accounts;
  const { sessions, grants, consents } = deps.sessions;
  const isSecure = config.baseUrl.startsWith('https:');
  const pinned = { baseUrl: config.baseUrl, trustProxy: config.trustProxy, keys: config.cookieKeys };
  const common: Omit<ProviderDeps, 'keys' | 'hasLegacy'> = {
    ...deps,
    ...deps.guards,
    issuer: config.issuer,
    baseUrl: config.baseUrl,
    basePath: config.basePath,
    cookieKeys: config.cookieKeys,
    secretKeys: config.secretKeys,
    cookieNames: cookieNamesFor(isSecure),
    accounts: directory,
    findConsent: consents.find,
    findClient: withTried(deps.clients.find, config.baseUrl),
    verifySecret: deps.clients.verifySecret,
    browserDigest: (ctx) => secretDigest(csrf.browserId(ctx)),
    sessions: {
      collection: store.ephemeral(oidcSessions),
      clock,
      recordActivity: sessions.note,
      confirm: confirmSession,
    },
    graceSeconds: () => settings().refresh_token_grace_seconds,
    revokeGrant: grants.revoke,
    codeIssued: createRepeatWatch(deps.log).codeIssued,
    pinOrigin: (app) => pinOrigin(app, pinned),
    grantsInUse: createGrantsInUse({ clients: deps.clients, clock }),
    documentHeaders: securityHeaderValues({ isSecure }),
    registerGrants: (provider) =>
      registerPasswordGrant(provider, {
        clock,
        accounts: directory,
        authenticate,
        revokeGrant: grants.revoke,
        dpop: createDpopProofs({ models: () => provider, clock, secretKeys: config.secretKeys }),
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

interface ProtocolRoutesDeps
  extends Pick<
    Parameters<typeof protocolRoutes>[0],
    'mount' | 'revokeToken' | 'logoutPages' | 'apis' | 'chargeRefusedClient' | 'outbound'
  > {
  readonly config: Pick<Config, 'issuer' | 'baseUrl'> & { readonly basePath: string };
  readonly state: ProtocolState;
  readonly bearers: Bearers;
  readonly clients: Clients;
  readonly sessions: Pick<Sessions, 'end' | 'endPast' | 'finishEndingOf' | 'findBySid'>;
  readonly grants: Pick<Grants, 'revokeOfClientInSession'>;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly agents: Pick<Parameters<typeof registrationRoutes>[0], 'admitStranger' | 'checkName'> &
    Pick<Parameters<typeof protocolRoutes>[0], 'documents'>;
  readonly events: Pick<Events, 'record' | 'note' | 'emit' | 'origins'>;
  readonly log: Pick<Logger, 'info'>;
}

/** Everything under /oauth2, in the order in which it is to be used. */
export function createProtocolRoutes(deps: ProtocolRoutesDeps): Koa.Middleware[] {
  const { config, state, bearers, clients, limits, events } = deps;
  return protocolRoutes({
    ...deps,
    ...config,
    ...state,
    documents: deps.agents.documents,
    readForm,
    isOn: () => deps.settings().legacy_profiles,
    authorizeAdmin: bearers.authorizeAdmin,
    chargePublicRequest: (address) => limits.consume('public_requests_ip', address),
    registration: registrationRoutes({
      clients,
      events,
      authorizeAdmin: bearers.authorizeAdmin,
      ...deps.agents,
      readJson,
      path: '/oauth2/register',
      publicUrl: `${config.baseUrl}/oauth2/register`,
    }),
  });
}

/** The library's own schema of client metadata, as it is with the provider in use. */
export const createValidateMetadata =
  (mount: ProtocolMount): ClientsDeps['validateMetadata'] =>
  async (metadata) =>
    normalizeMetadata(mount.provider.Client, metadata);
