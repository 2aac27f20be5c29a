// The library's configuration: features, routes, cookies, algorithms. Decisions per request are in policies.ts,
// find-account.ts, load-grant.ts and interaction-policy.ts.

import type { Adapter, Configuration, ErrorOut, Interaction, KoaContextWithOIDC } from 'oidc-provider';
import { owesSecondStep } from '../accounts/index.ts';
import type { Apis } from '../apis/index.ts';
import { isApprovedAddress, isPkceRequired } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import { ACR } from '../model/acr.ts';
import { tokenSigningAlgorithms } from '../model/applications/vocabulary.ts';
import { mayRequest } from './entitlements/client-access.ts';
import { demandAuthentication } from './entitlements/client-demands.ts';
import { type AccountDirectory, createFindAccount, extraTokenClaims } from './entitlements/find-account.ts';
import {
  createDefaultResource,
  createResourceServerInfo,
  SCOPE_FORM,
  staysWithApi,
} from './entitlements/requested-api.ts';
import { claimsByScope, scopes } from './entitlements/scopes.ts';
import { keepSettledScope } from './entitlements/settle-scope.ts';
import { clientRecord } from './models/client.ts';
import type { OutboundFetch } from './outbound/outbound-fetch.ts';
import {
  CLOCK_TOLERANCE_SECONDS,
  clientBasedCORS,
  createAssertionCheck,
  introspectionAllowed,
  issueRefreshToken,
  type LifetimeSettings,
  lifetimes,
} from './policies.ts';
import { ProviderBase } from './provider-base.ts';
import type { AssertionTurns } from './requests/assertion-turns.ts';
import { type DeviceRequest, describeDeviceRequest, deviceInfo } from './requests/device-request.ts';
import { createInteractionPolicy } from './sign-in/interaction-policy.ts';
import { DPOP_ALGORITHMS } from './tokens/dpop.ts';
import type { SigningKey, VerifyingKey } from './tokens/signing-key.ts';
import type { AnyToken } from './tokens/token-state.ts';
import { typedUserCode } from './user-code.ts';

export interface ProtocolSettings extends LifetimeSettings {
  readonly require_pkce: boolean;
  readonly legacy_profiles: boolean;
  readonly agents: boolean;
  readonly api_jwt_seconds: number;
  readonly api_opaque_seconds: number;
  readonly mfa_mode: 'off' | 'optional' | 'required';
}

export interface CookieNames {
  readonly session: string;
  readonly interaction: string;
  readonly resume: string;
}

export interface DevicePages {
  input(ctx: KoaContextWithOIDC, form: string, out: ErrorOut | undefined, error: Error | undefined): void;
  confirm(ctx: KoaContextWithOIDC, request: DeviceRequest): void;
  done(ctx: KoaContextWithOIDC): void;
}

export interface ConfigurationDeps {
  readonly outbound: OutboundFetch;
  readonly adapter: (name: string) => Adapter;
  /** The current ones for RS256 and ES256 first: of those of one algorithm the library signs with the first. */
  readonly signingKeys: readonly [SigningKey, SigningKey, ...VerifyingKey[]];
  readonly cookieKeys: readonly string[];
  readonly cookieNames: CookieNames;
  readonly clock: Clock;
  readonly assertionTurns: Pick<AssertionTurns, 'leave'>;
  readonly baseUrl: string;
  readonly settings: () => ProtocolSettings;
  readonly accounts: AccountDirectory;
  readonly apis: Pick<Apis, 'findByIdentifier' | 'find'>;
  readonly loadExistingGrant: NonNullable<Configuration['loadExistingGrant']>;
  /** The address of interactions; the page itself is rendered in the same response (provider-middleware.ts). */
  readonly interactionUrl: string;
  readonly renderError: (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error) => void;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly rotateRefreshToken: (ctx: KoaContextWithOIDC) => Promise<boolean>;
  readonly devicePages: DevicePages;
  /** 32 bytes, the same in every process. */
  readonly dpopNonceSecret: Buffer;
}

/** Algorithms for what clients sign: asymmetric only, because client secrets are stored as digests. */
const ASYMMETRIC = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

/**
 * The library's routes that people see. By the library's own rule (lib/shared/error_handler.js) an `Accept` that prefers
 * text/html makes every error a page; programs need JSON (RFC 6749 §5.2).
 */
const PAGES = new Set(['authorization', 'resume', 'code_verification', 'device_resume']);

// RFC 8628 §6.1: letters that are not confused with one another and do not form words.
const USER_CODE_MASK = '****-****';

export function createConfiguration(deps: ConfigurationDeps): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  return {
    adapter: deps.adapter,
    jwks: { keys: [...deps.signingKeys] },
    fetch: (target, options) =>
      deps.outbound(target, options, { use: 'keys', isApproved: isApproved(target) }),
    cookies: { keys: [...deps.cookieKeys], names: { ...deps.cookieNames }, long: cookie, short: cookie },
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    // Decision 0006: the ID token itself has the claims of `profile` and `email`.
    conformIdTokenClaims: false,
    scopes: [...scopes],
    // Not an additional parameter: its validation is the library's first hook after its own checks of the parameters.
    extraParams: {
      scope(ctx) {
        keepSettledScope(ctx);
        demandAuthentication(ctx);
      },
      [SCOPE_FORM]: null,
    },
    claims: {
      ...Object.fromEntries(Object.entries(claimsByScope).map(([scope, names]) => [scope, [...names]])),
      acr: null,
      amr: null,
      auth_time: null,
      iss: null,
      sid: null,
    },
    acrValues: Object.values(ACR),
    responseTypes: ['code'],
    // RFC 6749 §4.1.3, OIDC Core §3.1.2.1: the redirect URI is always required.
    allowOmittingSingleRegisteredRedirectUri: false,
    subjectTypes: ['public'],
    assertJwtClientAuthClaimsAndHeader: createAssertionCheck(deps.clock, deps.assertionTurns),
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    enabledJWA: {
      idTokenSigningAlgValues: [...tokenSigningAlgorithms],
      clientAuthSigningAlgValues: [...ASYMMETRIC],
      dPoPSigningAlgValues: [...DPOP_ALGORITHMS],
      userinfoSigningAlgValues: [...tokenSigningAlgorithms],
      introspectionSigningAlgValues: ['RS256'],
      authorizationSigningAlgValues: [...tokenSigningAlgorithms],
    },
    pkce: { required: (_ctx, client) => isPkceRequired(clientRecord(client), deps.settings()) },
    features: featuresOf(deps),
    routes: {
      authorization: '/authorize',
      code_verification: '/device',
      device_authorization: '/device_authorization',
      end_session: '/logout',
      introspection: '/introspect',
      jwks: '/.well-known/jwks.json',
      pushed_authorization_request: '/par',
      revocation: '/revoke',
      token: '/token',
      userinfo: '/userinfo',
    },
    interactions: {
      policy: createInteractionPolicy({
        hasSecondFactors: () => deps.settings().mfa_mode !== 'off',
        owesSecondStep: (session) => owesSecondStep(deps.settings().mfa_mode, session),
        accounts: deps.accounts,
      }),
      url: (_ctx: KoaContextWithOIDC, _interaction: Interaction) => deps.interactionUrl,
    },
    ttl: lifetimes(deps),
    findAccount: createFindAccount(deps.accounts, mayRequest),
    loadExistingGrant: deps.loadExistingGrant,
    // The library does not know of a request that is answered plainly.
    extraTokenClaims: (ctx, token) => extraTokenClaims(ProviderBase.ctx ?? ctx, token),
    issueRefreshToken,
    clientBasedCORS,
    rotateRefreshToken: deps.rotateRefreshToken,
    // Logout revokes everything that the session issued (src/sessions), so a token depends on its grant and the session is
    // not looked up on every use.
    expiresWithSession: () => false,
    revokeGrantPolicy: () => true,
    renderError(ctx, out, error) {
      if (PAGES.has(ctx.oidc.route)) deps.renderError(ctx, out, error);
      else ctx.body = out;
    },
  };
}

/** The library fetches the keys of the client that it authenticates. */
function isApproved(target: string | URL | Request): boolean {
  const client = ProviderBase.ctx?.oidc.client;
  const uri = target instanceof Request ? target.url : String(target);
  return client !== undefined && isApprovedAddress(clientRecord(client), uri);
}

const featuresOf = (deps: ConfigurationDeps): NonNullable<Configuration['features']> => ({
  devInteractions: { enabled: false },
  backchannelLogout: { enabled: true },
  claimsParameter: { enabled: true },
  clientCredentials: { enabled: true },
  // Nonces are given and accepted, not demanded: a proof without one has to be five minutes old at most.
  dPoP: { enabled: true, nonceSecret: deps.dpopNonceSecret },
  // Experimental in this exact version, which package.json pins: signing with our own key object.
  externalSigningSupport: { enabled: true, ack: 'experimental-01' },
  deviceFlow: {
    enabled: true,
    charset: 'base-20',
    mask: USER_CODE_MASK,
    deviceInfo,
    userCodeInputSource: (ctx, form, out, error) => deps.devicePages.input(ctx, form, out, error),
    async userCodeConfirmSource(ctx, _form, client, _info, userCode) {
      const lifetimes = deps.settings();
      const shown = typedUserCode(ctx.oidc.params)?.replace(/^.{4}/, '$&-') ?? userCode;
      const request = { client, userCode: shown, lifetimes, apis: deps.apis };
      deps.devicePages.confirm(ctx, await describeDeviceRequest(ctx, request));
    },
    successSource: (ctx) => deps.devicePages.done(ctx),
  },
  // For the applications that have them alone: signed-responses.ts.
  jwtResponseModes: { enabled: true },
  introspection: { enabled: true, allowedPolicy: introspectionAllowed },
  revocation: {
    enabled: true,
    // The library would revoke the whole grant with every access token. Ours revokes only the requested token, and
    // none of another client; `false` means that nothing is left to do (RFC 7009 §2.2: 200).
    async allowedPolicy(_ctx, client, token) {
      if (token.clientId === client.clientId) await deps.revokeToken(token);
      return false;
    },
  },
  pushedAuthorizationRequests: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: createDefaultResource(deps),
    getResourceServerInfo: createResourceServerInfo(deps),
    useGrantedResource: staysWithApi,
  },
  rpInitiatedLogout: { enabled: true },
  userinfo: { enabled: true },
  // For applications registered with userinfo_signed_response_alg.
  jwtUserinfo: { enabled: true },
});
