// Creates the provider for one key set: models, configuration, the grant types and pages that the library leaves to us, and
// the two documents. All state is in the store, so a key rotation replaces the provider.
import { createHmac, createSecretKey } from 'node:crypto';
import type { JWK } from 'jose';
import type Koa from 'koa';
import mount from 'koa-mount';
import type { Configuration, Interaction } from 'oidc-provider';
import type { CodeExchanges } from '../clients/index.ts';
import type { Events } from '../events/index.ts';
import { secretDigest } from '../ids.ts';
import type { Store } from '../store/port.ts';
import { type ConfigurationDeps, createConfiguration } from './configuration.ts';
import { createDiscovery } from './discovery.ts';
import { createDocuments, type Documents } from './documents.ts';
import type { GrantsInUse } from './entitlements/grants-in-use.ts';
import { createLoadExistingGrant } from './entitlements/load-grant.ts';
import { createRefreshTokenJwt } from './foreign-layout/refresh-token-jwt.ts';
import { IdentityProvider } from './identity-provider.ts';
import { legacyConfiguration, legacyDiscovery, watchLegacyResponses } from './legacy/index.ts';
import { createSendLogoutToken, type SendLogoutToken } from './logout/backchannel-logout.ts';
import { createRotation } from './models/kept-refresh-token.ts';
import { assertOutboundGuard } from './outbound/outbound-fetch.ts';
import {
  captureProviderEvents,
  countRefusedClients,
  prefillUserCode,
  rememberSessions,
  repeatScopeForm,
  reportCodeExchanges,
  rethrowServerErrors,
  showFormPosts,
  showInteractions,
} from './provider-middleware.ts';
import { createAssertionTurns } from './requests/assertion-turns.ts';
import { sayInterval } from './requests/device-request.ts';
import { keepOwnQuery } from './requests/own-query.ts';
import { collectRefusals } from './requests/refusals.ts';
import type { RepeatWatch } from './requests/repeated-values.ts';
import type { BrowserSession } from './sign-in/browser-session.ts';
import { type AccessTokenJwt, createAccessTokenJwt } from './tokens/access-token-jwt.ts';
import { dpopNonceSecret } from './tokens/dpop.ts';
import { introspectAsClient } from './tokens/introspection.ts';
import { createOpaqueTokens } from './tokens/opaque-tokens.ts';
import { noteSessionUse } from './tokens/refresh-as-use.ts';
import { SigningKey, VerifyingKey } from './tokens/signing-key.ts';
import { reportTokens } from './tokens/token-events.ts';
import type { TokenState } from './tokens/token-state.ts';

type ModelDeps = ConstructorParameters<typeof IdentityProvider>[2];

/** The pages of the protocol. */
export interface ProtocolPages extends Pick<ConfigurationDeps, 'renderError' | 'devicePages'> {
  /** The page of the interaction's next step; `isResumed`: the previous step has just finished. */
  showInteraction(ctx: Koa.Context, interaction: Interaction, isResumed: boolean): Promise<void>;
  showFormPost(ctx: Koa.Context, action: string, fields: readonly { name: string; value: string }[]): void;
}

export interface ProviderDeps
  extends Omit<
      ConfigurationDeps,
      | 'signingKeys'
      | 'assertionTurns'
      | 'rotateRefreshToken'
      | 'loadExistingGrant'
      | 'interactionUrl'
      | 'dpopNonceSecret'
      | keyof ProtocolPages
    >,
    Omit<
      ModelDeps,
      'apis' | 'assertionTurns' | 'jwt' | 'refreshJwt' | 'issuer' | 'clock' | 'settings' | 'successorKey'
    > {
  readonly issuer: string;
  readonly baseUrl: string;
  readonly basePath: string;
  /** SECRET_KEY, newest first. */
  readonly secretKeys: readonly string[];
  readonly keys: {
    readonly currentPrivateJwk: JWK;
    readonly currentEs256PrivateJwk: JWK;
    readonly publicJwks: readonly JWK[];
    readonly jwks: object;
  };
  readonly findConsent: Parameters<typeof createLoadExistingGrant>[0]['findConsent'];
  readonly tokens: TokenState;
  readonly chargeRefusedClient: Parameters<typeof countRefusedClients>[0];
  readonly pages: ProtocolPages;
  /** Makes the Koa app use BASE_URL as its origin (src/http/origin.ts). */
  readonly pinOrigin: (app: Pick<Koa, 'request' | 'keys' | 'proxy'>) => void;
  readonly grantsInUse: GrantsInUse;
  readonly store: Pick<Store, 'collection'>;
  readonly documentHeaders: Readonly<Record<string, string>>;
  readonly registerGrants: (provider: IdentityProvider) => void;
  readonly events: Pick<Events, 'emit' | 'note'>;
  readonly codeIssued: RepeatWatch['codeIssued'];
  readonly codeRedeemed: CodeExchanges['redeemed'];
  readonly browser: Pick<BrowserSession, 'remember'>;
  /** The setting `legacy_profiles`, for as long as this provider is in use. */
  readonly hasLegacy: boolean;
}

export interface MountedProvider {
  readonly provider: IdentityProvider;
  readonly jwt: AccessTokenJwt;
  readonly middleware: Koa.Middleware;
  readonly documents: Documents;
  /** The current signing key: SubjectPublicKeyInfo in base64, for clients that read it at `/realms/{name}`. */
  readonly publicKey: string;
  readonly sendLogoutToken: SendLogoutToken;
}

export async function createProvider(deps: ProviderDeps): Promise<MountedProvider> {
  const { issuer, baseUrl, basePath, keys, pages } = deps;
  // The library only warns when its own guard is missing.
  await assertOutboundGuard();
  const signingKeys = keysOf(keys);
  const [current] = signingKeys;
  const jwt = createAccessTokenJwt({
    keys: { current, publicJwks: keys.publicJwks },
    issuer,
    opaque: createOpaqueTokens(deps.secretKeys),
  });
  const [cookieKey = ''] = deps.cookieKeys;
  const assertionTurns = createAssertionTurns();
  const refreshJwt = createRefreshTokenJwt(deps.secretKeys, issuer);
  const ordinary = createConfiguration({
    ...deps,
    assertionTurns,
    ...pages,
    signingKeys,
    rotateRefreshToken: createRotation({ ...deps, idOf: secretDigest, refreshJwt }),
    interactionUrl: `${basePath}/oauth2/login`,
    dpopNonceSecret: dpopNonceSecret(deps.secretKeys),
    loadExistingGrant: createLoadExistingGrant({
      models: () => provider,
      findConsent: deps.findConsent,
    }),
  });
  const configuration: Configuration = deps.hasLegacy ? legacyConfiguration(ordinary, deps.clock) : ordinary;
  const provider: IdentityProvider = new IdentityProvider(issuer, configuration, {
    ...deps,
    jwt,
    assertionTurns,
    refreshJwt,
    // A derived key for this purpose alone: the cookie key must not also create refresh tokens.
    successorKey: createSecretKey(createHmac('sha256', cookieKey).update('refresh-token-successor').digest()),
  });
  deps.pinOrigin(provider);
  deps.registerGrants(provider);
  captureProviderEvents(provider);
  reportTokens(provider, deps);
  collectRefusals(provider);
  if (deps.hasLegacy) watchLegacyResponses(provider, deps);

  for (const middleware of [assertionTurns.middleware, ...middlewaresOf(deps)]) provider.use(middleware);

  const middleware = mount('/oauth2', asKoa(provider));
  const discovery = await createDiscovery({
    provider,
    mounted: middleware,
    baseUrl,
    issuer,
    ...(deps.hasLegacy && { legacy: legacyDiscovery(baseUrl) }),
  });
  await deps.grantsInUse.check();
  const documents = createDocuments({
    issuer,
    baseUrl,
    basePath,
    discovery,
    inUse: () => ({ ...deps.grantsInUse.current(), agents: deps.settings().agents }),
    jwks: keys.jwks,
    headers: deps.documentHeaders,
  });

  return {
    provider,
    jwt,
    middleware,
    documents,
    publicKey: current.keyObject().export({ type: 'spki', format: 'der' }).toString('base64'),
    sendLogoutToken: createSendLogoutToken({ models: provider, outbound: deps.outbound }),
  };
}

/** In their order. */
const middlewaresOf = (deps: ProviderDeps): Koa.Middleware[] => [
  mountedAt(`${deps.basePath}/oauth2`),
  rethrowServerErrors,
  countRefusedClients(deps.chargeRefusedClient),
  rememberSessions(deps.browser.remember),
  prefillUserCode,
  repeatScopeForm,
  sayInterval,
  keepOwnQuery,
  reportCodeExchanges(deps.codeRedeemed),
  noteSessionUse({ ...deps.sessions, settings: deps.settings }),
  showInteractions(deps.pages.showInteraction),
  showFormPosts(deps.pages.showFormPost),
  introspectAsClient({ issuer: deps.issuer, tokens: deps.tokens }),
];

/** The prefix that the library puts before its paths in addresses (lib/helpers/oidc_context.js urlFor). */
const mountedAt =
  (path: string): Koa.Middleware =>
  (ctx, next) => {
    ctx.mountPath = path;
    return next();
  };

function keysOf(keys: ProviderDeps['keys']): ConfigurationDeps['signingKeys'] {
  const current = new SigningKey(keys.currentPrivateJwk);
  const currentEs256 = new SigningKey(keys.currentEs256PrivateJwk);
  const signing = new Set([current.kid, currentEs256.kid]);
  const others = keys.publicJwks.filter(({ kid }) => !signing.has(kid));
  return [current, currentEs256, ...others.map((jwk) => new VerifyingKey(jwk))];
}

// A Koa app by inheritance; provider-base.ts re-types its models, which TypeScript sees as a different class.
const asKoa = (provider: IdentityProvider): Koa => provider as unknown as Koa;
