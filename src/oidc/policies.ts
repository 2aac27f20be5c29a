// Owns what the library asks us to decide: lifetimes, refresh tokens, CORS, who may introspect. Each is one function of
// the request and the runtime settings.
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { TRIAL_SECONDS } from '../clients/trials.ts';
import { type Clock, epochSeconds } from '../clock.ts';
import { clientRecord } from './models/client.ts';
import type { SessionGrant } from './models/grant.ts';

export interface LifetimeSettings {
  readonly access_token_seconds: number;
  readonly id_token_seconds: number;
  readonly refresh_token_idle_seconds: number;
  readonly refresh_token_absolute_seconds: number;
  readonly authorization_code_seconds: number;
  readonly session_idle_seconds: number;
  readonly session_absolute_seconds: number;
  readonly interaction_seconds: number;
}

type Ttl = NonNullable<Configuration['ttl']>;

const DEVICE_CODE_SECONDS = 600;
/** Decisions §5: what a device keeps without `offline_access`, counted from its sign-in, whatever the client. */
export const DEVICE_SESSION_SECONDS = 86_400;
// A grant must outlive the last refresh token that was given in its name.
const GRANT_MARGIN_SECONDS = 86_400;

/** Decisions §5. A lifetime set on an application wins over the setting. */
export function lifetimes({ settings, clock }: { settings: () => LifetimeSettings; clock: Clock }): Ttl {
  const now = (): number => epochSeconds(clock);
  const own = (client: Client | undefined) => (client === undefined ? undefined : clientRecord(client));
  const access = (client: Client | undefined): number =>
    own(client)?.accessTokenSeconds ?? settings().access_token_seconds;

  return {
    AccessToken: (_ctx, _token, client) => access(client),
    ClientCredentials: (_ctx, _token, client) => access(client),
    IdToken: (_ctx, _token, client) => own(client)?.idTokenSeconds ?? settings().id_token_seconds,
    AuthorizationCode: () => settings().authorization_code_seconds,
    DeviceCode: DEVICE_CODE_SECONDS,
    Interaction: () => settings().interaction_seconds,
    // Every token's life hangs on its grant: whatever goes wrong in a trial, what it gave is over soon.
    Grant: (_ctx, grant: SessionGrant) =>
      grant.isTrial === true
        ? TRIAL_SECONDS
        : settings().refresh_token_absolute_seconds + GRANT_MARGIN_SECONDS,
    RefreshToken(_ctx, token, client) {
      const idle = own(client)?.refreshTokenSeconds ?? settings().refresh_token_idle_seconds;
      // `iiat` is when the first of the chain was issued: rotation never moves the absolute end (RFC 9700 §4.14.2).
      const first = token.iiat ?? now();
      const left = first + settings().refresh_token_absolute_seconds - now();
      const isOfDevice = token.gty?.startsWith('device_code') === true && !token.scopes.has('offline_access');
      const leftOfDevice = isOfDevice ? first + DEVICE_SESSION_SECONDS - now() : left;
      return Math.max(1, Math.min(idle, left, leftOfDevice));
    },
    Session(_ctx, session) {
      const left = (session.iat ?? now()) + settings().session_absolute_seconds - now();
      return Math.max(1, Math.min(settings().session_idle_seconds, left));
    },
  };
}

/**
 * A browser application keeps tokens where scripts reach them, so it must ask for offline access (RFC 9700 §2.2.2). By
 * what is registered: in a trial every application looks public (trial-gate.ts).
 */
const isBrowserApp = (client: Client): boolean =>
  client.applicationType !== 'native' && clientRecord(client).metadata.token_endpoint_auth_method === 'none';

/** Decisions §5: for `offline_access`, or always when registered for it and not a browser application. */
export function issueRefreshToken(
  _ctx: KoaContextWithOIDC,
  client: Client,
  source: { readonly scopes: Set<string> },
): boolean {
  if (!client.grantTypeAllowed('refresh_token')) return false;
  return source.scopes.has('offline_access') || !isBrowserApp(client);
}

/** Only the origins an application redirects to may read answers meant for it; `null` is any sandboxed page. */
export function clientBasedCORS(ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  if (origin === 'null') return false;
  if (ctx.oidc.route !== 'userinfo' && client.clientAuthMethod !== 'none') return false;
  return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}

/** RFC 7662 §2.1: a client may ask about tokens issued to it or meant for it. */
export function introspectionAllowed(
  _ctx: KoaContextWithOIDC,
  client: Client,
  token: { readonly clientId?: string | undefined; readonly aud?: unknown },
): boolean {
  const audience = Array.isArray(token.aud) ? token.aud : [token.aud];
  return token.clientId === client.clientId || audience.includes(client.clientId);
}

// Long enough for clocks that differ; what has to be remembered against a replay stays little.
const LONGEST_ASSERTION_SECONDS = 300;

/**
 * RFC 7523 §3: an assertion with a far end is a credential that lies around, and one that names another server beside us can
 * be replayed by it (checklist R040). The library is content with one entry of `aud` that is ours, and takes the address of
 * the endpoint asked for as well.
 */
export const createAssertionCheck =
  (clock: Clock): NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']> =>
  (ctx, { exp, aud }) => {
    const ours: readonly unknown[] = [ctx.oidc.issuer, ctx.oidc.urlFor('token')];
    if (![aud].flat().every((audience) => ours.includes(audience))) {
      throw new errors.InvalidClientAuth('aud must be the issuer or the token endpoint, and nothing else');
    }
    if (typeof exp === 'number' && exp <= epochSeconds(clock) + LONGEST_ASSERTION_SECONDS) return;
    throw new errors.InvalidClientAuth('the assertion lives too long');
  };
