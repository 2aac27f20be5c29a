// Decisions that the library leaves to us: lifetimes, refresh tokens, CORS, introspection. Each is one function of the
// request and the runtime settings.
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isPassing } from '../client-ids.ts';
import { hasOrigin, isOfFapi } from '../clients/index.ts';
import { type Clock, epochSeconds } from '../clock.ts';
import type { ClientRecord } from '../store/collections.ts';
import { ADMIN_SCOPES } from './entitlements/scopes.ts';
import { isOfFragment } from './legacy/index.ts';
import { clientRecord } from './models/client.ts';
import { type SessionLimits, secondsLive } from './models/session-use.ts';
import { isDraft } from './preview/draft.ts';
import type { AssertionTurns } from './requests/assertion-turns.ts';

export interface LifetimeSettings extends SessionLimits {
  readonly access_token_seconds: number;
  readonly id_token_seconds: number;
  readonly refresh_token_idle_seconds: number;
  readonly refresh_token_absolute_seconds: number;
  readonly browser_refresh_token_seconds: number;
  readonly authorization_code_seconds: number;
  readonly interaction_seconds: number;
}

type Ttl = NonNullable<Configuration['ttl']>;

const DEVICE_CODE_SECONDS = 600;
const PASSING_GRANT_SECONDS = 600;
/** Decision 0006: how long a device without `offline_access` stays signed in, from its sign-in on, for every client. */
const DEVICE_SESSION_SECONDS = 86_400;
// A grant must outlive its last refresh token.
const GRANT_MARGIN_SECONDS = 86_400;

/** Decision 0006. A lifetime set on an application wins over the setting. */
export function lifetimes({ settings, clock }: { settings: () => LifetimeSettings; clock: Clock }): Ttl {
  const now = (): number => epochSeconds(clock);
  const recordOf = (client: Client | undefined) => (client === undefined ? undefined : clientRecord(client));
  const access = (client: Client | undefined): number =>
    recordOf(client)?.accessTokenSeconds ?? settings().access_token_seconds;

  return {
    // A token for an API lives as long as the API says.
    AccessToken: (_ctx, token, client) => token.resourceServer?.accessTokenTTL ?? access(client),
    ClientCredentials: (_ctx, token, client) => token.resourceServer?.accessTokenTTL ?? access(client),
    IdToken: (_ctx, _token, client) => recordOf(client)?.idTokenSeconds ?? settings().id_token_seconds,
    AuthorizationCode: () => settings().authorization_code_seconds,
    DeviceCode: DEVICE_CODE_SECONDS,
    Interaction: () => settings().interaction_seconds,
    // Every token depends on its grant.
    Grant: (_ctx, { clientId = '' }) =>
      isPassing(clientId)
        ? PASSING_GRANT_SECONDS
        : settings().refresh_token_absolute_seconds + GRANT_MARGIN_SECONDS,
    RefreshToken: (_ctx, token, client) => refreshSeconds(clientRecord(client), token, settings(), clock),
    Session: (_ctx, session) => secondsLive(session.iat ?? now(), settings(), now()),
  };
}

/** A browser application stores tokens within reach of scripts (RFC 9700 §2.2.2). */
const isBrowserApp = ({ metadata }: Pick<ClientRecord, 'metadata'>): boolean =>
  metadata.application_type !== 'native' && metadata.token_endpoint_auth_method === 'none';

export type RefreshSettings = Pick<
  LifetimeSettings,
  'refresh_token_absolute_seconds' | 'browser_refresh_token_seconds'
>;

/** @returns how long a token of this chain lasts from now on if nobody uses it */
export function refreshSeconds(
  client: Pick<ClientRecord, 'metadata' | 'refreshTokenSeconds'>,
  token: Parameters<typeof secondsLeft>[1],
  settings: RefreshSettings & Pick<LifetimeSettings, 'refresh_token_idle_seconds'>,
  clock: Clock,
): number {
  const idle = client.refreshTokenSeconds ?? settings.refresh_token_idle_seconds;
  return Math.max(1, Math.min(idle, secondsLeft(client, token, settings, clock)));
}

/**
 * `iiat` is when the first token of the chain was issued: rotation never extends the absolute lifetime (RFC 9700 §4.14.2).
 * @returns how long the chain of this token can still last
 */
export const secondsLeft = (
  client: Pick<ClientRecord, 'metadata'>,
  token: Parameters<typeof longestRefreshSeconds>[1] & { readonly iiat?: number | undefined },
  settings: RefreshSettings,
  clock: Clock,
): number => {
  const now = epochSeconds(clock);
  return (token.iiat ?? now) + longestRefreshSeconds(client, token, settings) - now;
};

/**
 * Decision 0007: how long refresh tokens of one sign-in can last, however often they are used.
 * @param source how the first one was obtained, or is about to be
 */
export function longestRefreshSeconds(
  client: Pick<ClientRecord, 'metadata'>,
  source: { readonly gty?: string | undefined; readonly scopes: { has(scope: string): boolean } },
  settings: RefreshSettings,
): number {
  const { refresh_token_absolute_seconds: absolute, browser_refresh_token_seconds: browser } = settings;
  const isOfDevice = source.gty?.startsWith('device_code') === true && !source.scopes.has('offline_access');
  return Math.min(
    absolute,
    isBrowserApp(client) ? browser : absolute,
    isOfDevice ? DEVICE_SESSION_SECONDS : absolute,
  );
}

/** Decision 0006: whenever the application is registered for it, with or without `offline_access`; of a preview none. */
export const issueRefreshToken = (_ctx: KoaContextWithOIDC, client: Client): boolean =>
  client.grantTypeAllowed('refresh_token') && !isDraft();

/**
 * Whether the library handles a request that a script sends from there; it refuses others, which would only spend a code or
 * token. The headers are ours (src/http/cors.ts).
 */
export const clientBasedCORS = (_ctx: KoaContextWithOIDC, origin: string, client: Client): boolean =>
  hasOrigin(clientRecord(client), origin);

interface Introspected {
  readonly kind: string;
  readonly clientId?: string | undefined;
  readonly aud?: unknown;
  readonly gty?: unknown;
  readonly scopes: ReadonlySet<string>;
}

const ACCESS_TOKENS = new Set(['AccessToken', 'ClientCredentials']);

const othersTokens = new WeakSet<object>();

/** Whether the request is about a token of another client that the asking one may learn of. */
export const isAboutAnothersToken = (ctx: object): boolean => othersTokens.has(ctx);

/**
 * RFC 7662 §2.1: a client may ask about tokens issued to it or meant for it; one that an administrator allowed, about any access
 * token without `admin` scopes (decision 0003). Public clients do not get here (src/oidc/tokens/introspection.ts).
 */
export const mayLearnOf = (client: Client, token: Introspected): boolean =>
  token.clientId === client.clientId || mayLearnOfAnothers(client, token);

function mayLearnOfAnothers(client: Client, { kind, aud, scopes, gty }: Introspected): boolean {
  const audience = Array.isArray(aud) ? aud : [aud];
  const isForAdmin = [...ADMIN_SCOPES].some((scope) => scopes.has(scope));
  const mayAsk =
    clientRecord(client).mayIntrospect === true &&
    ACCESS_TOKENS.has(kind) &&
    !isForAdmin &&
    !isOfFragment({ gty });
  return mayAsk || audience.includes(client.clientId);
}

export function introspectionAllowed(ctx: KoaContextWithOIDC, client: Client, token: Introspected): boolean {
  if (token.clientId === client.clientId) return true;
  // Not left to the library, which reads the token's client, too, and fails where that is gone (lib/actions/introspection.js).
  if (mayLearnOfAnothers(client, token)) othersTokens.add(ctx);
  return false;
}

/** Between clocks of processes, and of clients that are ahead (FAPI 2.0 §5.3.2.1: ten seconds). */
export const CLOCK_TOLERANCE_SECONDS = 10;

// Long enough for clock skew, short enough to keep the replay records few.
const LONGEST_ASSERTION_SECONDS = 300;

/**
 * RFC 7523 §3: a long-lived assertion is a credential that can leak, and one that also names another server can be replayed
 * by that server. The library accepts any `aud` with one entry of ours, and the address of the requested
 * endpoint as well.
 */
export const createAssertionCheck =
  (
    clock: Clock,
    turns: Pick<AssertionTurns, 'leave'>,
  ): NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']> =>
  (ctx, { exp, aud }) => {
    turns.leave(ctx.req);
    if (ctx.oidc.client !== undefined && isOfFapi(clientRecord(ctx.oidc.client)) && aud !== ctx.oidc.issuer)
      throw new errors.InvalidClientAuth('aud must be the issuer alone, as a string');
    // RFC 9126 §2: the server MUST accept its own address there, too.
    const here = ctx.oidc.route === 'pushed_authorization_request' ? [ctx.oidc.route] : [];
    const ours: readonly unknown[] = [
      ctx.oidc.issuer,
      ...['token', ...here].map((name) => ctx.oidc.urlFor(name)),
    ];
    if (![aud].flat().every((audience) => ours.includes(audience))) {
      throw new errors.InvalidClientAuth('aud must be the issuer or the token endpoint, and nothing else');
    }
    if (typeof exp === 'number' && exp <= epochSeconds(clock) + LONGEST_ASSERTION_SECONDS) return;
    throw new errors.InvalidClientAuth('the assertion expires too late');
  };
