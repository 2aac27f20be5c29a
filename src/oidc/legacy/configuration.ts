// The library's part of the profile: response types beyond `code` and signed request objects, with our limits on both.
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { hasLegacyProfile, isOfFapi } from '../../clients/index.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import type { Events } from '../../events/index.ts';
import { legacyResponseTypes, requestObjectAlgorithms } from '../../model/applications/vocabulary.ts';
import { clientRecord } from '../models/client.ts';
import type { ProviderBase } from '../provider-base.ts';
import { createNoteBrowserState, forgetBrowserState, type StateAddress } from './browser-state.ts';
import { isOfFragment } from './fragment-tokens.ts';

/** What reaches a browser's history must be worth little, and not for long (decision 0026). */
const FRAGMENT_SECONDS = 300;
const OBJECT_SECONDS = 3600;

type Ttl = NonNullable<Configuration['ttl']>;

const isFrontChannel = ({ oidc }: KoaContextWithOIDC): boolean =>
  oidc.route === 'authorization' || oidc.route === 'resume';

/** @returns the lifetimes of an ordinary provider, short for what comes in a fragment */
function lifetimes(ttl: Ttl): Ttl {
  const { AccessToken: access, IdToken: id } = ttl;
  if (typeof access !== 'function' || typeof id !== 'function')
    throw new TypeError('lifetimes are functions');
  return {
    ...ttl,
    AccessToken(ctx, token, client) {
      const seconds = access(ctx, token, client);
      return isOfFragment(token) ? Math.min(FRAGMENT_SECONDS, seconds) : seconds;
    },
    IdToken(ctx, token, client) {
      const seconds = id(ctx, token, client);
      // A logout token has no context.
      return ctx !== undefined && isFrontChannel(ctx) ? Math.min(FRAGMENT_SECONDS, seconds) : seconds;
    },
  };
}

/** Called after the library's own checks of the parameters, at the authorization endpoint and for a pushed request. */
function checkRequest({ oidc }: KoaContextWithOIDC): void {
  const { resource, response_type: type } = oidc.params ?? {};
  if (typeof type !== 'string') return;
  const isForApi = Array.isArray(resource) ? resource.length > 0 : resource !== undefined;
  if (type.split(' ').includes('token') && isForApi)
    throw new errors.InvalidTarget('a token in a fragment is for userinfo alone');
}

/** FAPI 2.0 Message Signing §5.3.1: a request object lives for an hour at most, and begins to at most an hour before it is used. */
function checkLifetime({ exp, nbf }: Readonly<Record<string, unknown>>, now: number): void {
  if (typeof exp !== 'number' || typeof nbf !== 'number')
    throw new errors.InvalidRequestObject('the request object must have exp and nbf');
  if (exp - nbf > OBJECT_SECONDS || nbf < now - OBJECT_SECONDS)
    throw new errors.InvalidRequestObject('the request object must not live longer than 60 minutes');
}

/** @returns the configuration of a provider with the profile */
export function legacyConfiguration(configuration: Configuration, clock: Clock): Configuration {
  const { extraParams = {}, features, enabledJWA, ttl = {} } = configuration;
  return {
    ...configuration,
    responseTypes: ['code', ...legacyResponseTypes],
    enabledJWA: { ...enabledJWA, requestObjectSigningAlgValues: [...requestObjectAlgorithms] },
    features: {
      ...features,
      requestObjects: {
        enabled: true,
        // Called before the signature is checked, and once more for a pushed request when it is used.
        assertJwtClaimsAndHeader(ctx, claims, _header, client) {
          if (ctx.oidc.entities.PushedAuthorizationRequest !== undefined) return;
          if (!hasLegacyProfile(clientRecord(client))) throw new errors.RequestNotSupported();
          if (isOfFapi(clientRecord(client))) checkLifetime(claims, epochSeconds(clock));
        },
      },
    },
    extraParams: {
      ...(Array.isArray(extraParams) ? {} : extraParams),
      nonce: checkRequest,
    },
    ttl: lifetimes(ttl),
  };
}

interface Watch extends StateAddress {
  readonly cookieKeys: readonly string[];
  readonly events: Pick<Events, 'emit'>;
}

/** As at the token endpoint (tokens/token-events.ts), where these tokens never come by. */
function reportTokens({ oidc }: KoaContextWithOIDC, response: object, events: Watch['events']): void {
  const { client, entities, params, session } = oidc;
  if (client === undefined || !('access_token' in response || 'id_token' in response)) return;
  events.emit('tokensIssued', {
    clientId: client.clientId,
    accountId: session?.accountId,
    grantId: session?.grantIdFor(client.clientId),
    grantType: 'implicit',
    scope: entities.AccessToken?.scope ?? (typeof params?.scope === 'string' ? params.scope : undefined),
  });
}

/** Completes the answers of the authorization endpoint before they are sent (lib/actions/authorization/respond.js). */
export function watchLegacyResponses(
  provider: Pick<InstanceType<typeof ProviderBase>, 'on'>,
  { events, ...watch }: Watch,
): void {
  const noteBrowserState = createNoteBrowserState(watch);
  provider.on('authorization.success', (ctx: KoaContextWithOIDC, response: object = {}) => {
    // RFC 9207 §2: also where the library leaves it to the ID token, which a client may not have read yet.
    Object.assign(response, { iss: ctx.oidc.issuer });
    noteBrowserState(ctx, response);
    reportTokens(ctx, response, events);
  });
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
    const isNobody = error.message === 'login_required' && ctx.oidc.session?.accountId === undefined;
    if (isNobody) forgetBrowserState(ctx, watch);
  });
}
