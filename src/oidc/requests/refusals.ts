// One log line per refusal of the protocol, whoever answers it (the library or an endpoint of ours), for whoever sets up an
// application: which error, why, whose, and for an address what it was compared with. The application's page lists the last
// ones (src/clients/recent-refusals.ts). Never a code, token, secret or query.
import type Koa from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { registeredId } from '../../client-ids.ts';
import type { Events } from '../../events/index.ts';
import { describeFailure, oauthErrorOf, requestIdOf } from '../../http/index.ts';
import type { Logger } from '../../log.ts';
import { knownDetail } from '../../model/refusals/refusals.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import type { ProtocolContext } from '../provider-middleware.ts';
import { namedClient } from './request-client.ts';

interface LibraryError {
  readonly message: string;
  readonly error_description?: string | undefined;
  readonly error_detail?: string | undefined;
}

/** What is known where a request is refused; the rest is added when it is reported. */
export interface Refusal {
  readonly error: string;
  readonly reason?: string | undefined;
  /** Default: the client that the request authenticated as or names. */
  readonly clientId?: string | undefined;
  /** The address that is not registered, and those that are. */
  readonly address?: unknown;
  readonly registered?: readonly string[] | undefined;
}

const MAX_TEXT = 300;
const MAX_ADDRESSES = 10;

/** Steps of a protocol, not errors: the user has not decided (RFC 8628 §3.5), a proof needs a nonce (RFC 9449 §8). */
const PENDING = new Set(['authorization_pending', 'slow_down', 'use_dpop_nonce']);

const ENDPOINTS: Readonly<Record<string, string>> = {
  authorize: 'authorization',
  token: 'token',
  userinfo: 'userinfo',
  introspect: 'introspection',
  revoke: 'revocation',
  par: 'par',
  device_authorization: 'device_authorization',
  device: 'device',
  logout: 'logout',
  register: 'registration',
};

function endpointOf(path: string): string | undefined {
  const [, top, name = ''] = path.split('/', 3);
  return top === 'oauth2' && Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;

// Up to the last @ before the path, however the address is spelled: it may be no valid one.
const USER_INFO = /^([a-z][a-z0-9+.-]*:)?([\\/]*)[^\\/]*(?:@|%40)/i;

/** Without user and password, and without the query and fragment, which may carry anything. */
const addressForLog = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? text(
        value
          .replace(/[?#].*$/s, '?…')
          .replace(/[^\x21-\x7e\xa0-\uffff]/g, '')
          .replace(USER_INFO, '$1$2…@'),
      )
    : undefined;

const refusals = new WeakMap<object, Refusal>();
const pending = new WeakSet<object>();

/** For an endpoint of ours that knows more than its answer says. The last one of a request counts. */
export const noteRefusal = (ctx: Koa.Context, refusal: Refusal): void => void refusals.set(ctx, refusal);

function noteOfLibrary(ctx: KoaContextWithOIDC, error: LibraryError): void {
  if (PENDING.has(error.message)) {
    pending.add(ctx);
    return;
  }
  if (ctx.state.serverError !== undefined) return;
  const { client, params } = ctx.oidc;
  const detail = error.error_detail;
  const isAboutAddress = error.message === 'invalid_redirect_uri' || /redirect_uri/.test(detail ?? '');
  // The library reports an unregistered address after what else is wrong with the request; it answers about the address.
  refusals.set(ctx, {
    error: error.message,
    reason: knownDetail(detail) ?? error.error_description,
    ...(isAboutAddress && { address: params?.redirect_uri, registered: client?.redirectUris }),
  });
}

/** Subscribes to the refusals of this provider. */
export function collectRefusals(provider: Pick<IdentityProvider, 'on'>): void {
  provider.on('authorization.error', noteOfLibrary);
  provider.on('grant.error', noteOfLibrary);
  provider.on('userinfo.error', noteOfLibrary);
  provider.on('introspection.error', noteOfLibrary);
  provider.on('revocation.error', noteOfLibrary);
  provider.on('pushed_authorization_request.error', noteOfLibrary);
  provider.on('device_authorization.error', noteOfLibrary);
}

/** The refusal in an answer of ours: OAuth's JSON with a status of the client's errors. */
function answeredRefusal({ status, body }: Koa.Context): Refusal | undefined {
  if (status < 400 || status > 499 || typeof body !== 'object' || body === null) return undefined;
  if (!('error' in body) || typeof body.error !== 'string') return undefined;
  const reason = 'error_description' in body ? text(body.error_description) : undefined;
  return { error: body.error, reason };
}

/** The refusal in an error of ours, which the error boundary answers. */
function thrownRefusal(thrown: unknown): Refusal | undefined {
  const failure = describeFailure(thrown);
  if (failure.status > 499) return undefined;
  const { error, error_description: reason } = oauthErrorOf(failure);
  return { error, reason };
}

interface Deps {
  readonly log: Pick<Logger, 'info'>;
  readonly events: Pick<Events, 'emit'>;
}

/** Before all endpoints: reports what they refuse, once per request. Nothing waits for it. */
export function reportRefusals({ log, events }: Deps): Koa.Middleware {
  function report(ctx: ProtocolContext, endpoint: string, refusal: Refusal): void {
    const known = registeredId(ctx.oidc?.client?.clientId);
    const clientId = refusal.clientId ?? known ?? namedClient(ctx);
    const address = addressForLog(refusal.address);
    const reason = text(refusal.reason);
    const { error } = refusal;
    log.info(
      {
        event: 'refused',
        request_id: requestIdOf(ctx),
        endpoint,
        error,
        reason,
        client_id: text(clientId),
        ...(refusal.registered !== undefined && {
          [endpoint === 'logout' ? 'post_logout_redirect_uri' : 'redirect_uri']: address,
          registered: refusal.registered.slice(0, MAX_ADDRESSES).map(addressForLog),
        }),
      },
      'request refused',
    );
    const isKnown = clientId !== undefined && clientId === known;
    events.emit('requestRefused', { clientId, isKnown, endpoint, error, reason, address });
  }

  return async (ctx, next) => {
    // Handlers may change the path on the way.
    const endpoint = endpointOf(ctx.path);
    if (endpoint === undefined) return next();
    const reportAs = (other: Refusal | undefined): void => {
      const refusal = refusals.get(ctx) ?? other;
      if (refusal !== undefined && !pending.has(ctx)) report(ctx, endpoint, refusal);
    };
    try {
      await next();
    } catch (thrown) {
      reportAs(thrownRefusal(thrown));
      throw thrown;
    }
    reportAs(answeredRefusal(ctx));
  };
}
