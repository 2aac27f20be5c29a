// Sign-outs that programs ask for, without a browser's cookie: by a bearer access token, or by a refresh token with the
// application's own authentication (the foreign path layout; decision 0005).
import type Koa from 'koa';
import type { Client } from 'oidc-provider';
import type { Clock } from '../../clock.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { isOfFragment } from '../legacy/index.ts';
import { clientRecord } from '../models/client.ts';
import { isOfAMomentAgo } from '../models/refresh-token.ts';
import type { ProtocolContext } from '../provider-middleware.ts';
import { type Form, restoreForm } from '../requests/form.ts';
import { noteClient } from '../requests/request-client.ts';
import type { DpopProofs } from '../tokens/dpop.ts';
import type { RevokeToken } from '../tokens/revocation.ts';
import type { TokenState } from '../tokens/token-state.ts';

export type GraceSetting = () => { readonly refresh_token_grace_seconds: number };

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly tokens: TokenState;
  readonly revokeToken: RevokeToken;
  readonly sessions: Pick<Sessions, 'end' | 'finishEndingOf'>;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
  readonly settings: GraceSetting;
  readonly clock: Clock;
}

const isBearer = (authorization: string): boolean => /^(?:bearer|dpop)\b/i.test(authorization);

export const hasBearer = (ctx: Koa.Context): boolean => isBearer(ctx.get('authorization'));

const FORM_CREDENTIALS = ['client_secret', 'client_assertion'];

/** Whether the request brings a client's credentials; a client id alone is none. */
export function hasClientCredentials(ctx: Koa.Context, form: Form | undefined): boolean {
  const authorization = ctx.get('authorization');
  if (authorization !== '' && !isBearer(authorization)) return true;
  return FORM_CREDENTIALS.some((name) => (form?.get(name) ?? '') !== '');
}

const CLIENT_MEMBERS = ['client_id', ...FORM_CREDENTIALS, 'client_assertion_type'];

/**
 * Has the library authenticate the client (lib/shared/client_auth.js), with its limits and its log lines: as a request to its
 * revocation endpoint about a token that does not exist, which changes nothing.
 * @returns undefined when it was refused; the library has answered then
 */
export async function authenticateClient(
  ctx: ProtocolContext,
  next: Koa.Next,
  form: Form | undefined,
): Promise<Client | undefined> {
  const { path, method } = ctx;
  const members = new Map(CLIENT_MEMBERS.map((name) => [name, form?.get(name) || undefined] as const));
  const fields = new Map([...members, ['token', 'none'] as const]);
  if (hasBearer(ctx)) delete ctx.req.headers.authorization;
  ctx.req.headers['content-type'] = 'application/x-www-form-urlencoded';
  ctx.state.isLogout = true;
  ctx.method = 'POST';
  ctx.path = '/oauth2/revoke';
  restoreForm(ctx, {
    get: (name) => fields.get(name),
    keys: () => [...fields.keys()].filter((name) => fields.get(name) !== undefined),
  });
  await next();
  ctx.path = path;
  ctx.method = method;
  return ctx.status === 200 ? ctx.oidc?.client : undefined;
}

/** Ends the grant of the client's own refresh token. No session is read, and the browser's is not touched. */
export async function logoutByRefreshToken(
  ctx: ProtocolContext,
  next: Koa.Next,
  form: Form,
  { tokens, revokeToken, settings, clock }: Deps,
): Promise<void> {
  const client = await authenticateClient(ctx, next, form);
  if (client === undefined) return;
  ctx.remove('Content-Type');
  const token = await tokens.find(form.get('refresh_token') ?? '');
  const isOwn = token?.kind === 'RefreshToken' && token.clientId === client.clientId;
  if (!isOwn || token.isExpired) return refuse(ctx, 'The refresh_token is not a valid one of this client.');
  // Its application may not have had the answer yet with the next one.
  const graceSeconds = settings().refresh_token_grace_seconds;
  if (token.consumed !== undefined && !isOfAMomentAgo(token.consumed, graceSeconds, clock)) {
    await revokeToken(token, { reusedBy: client.clientId });
    return refuse(ctx, 'The refresh_token was used before, so its grant is revoked.');
  }
  await revokeToken(token);
  ctx.body = null;
  ctx.status = 204;
}

function refuse(ctx: Koa.Context, description: string): void {
  ctx.status = 400;
  ctx.body = { error: 'invalid_grant', error_description: description };
}

/**
 * Ends the grant of an access token, and its session when it is a first-party one's that signs in.
 * @throws AppError auth.invalid_token for one that is bound to a key, without a proof by that key
 */
export async function logoutByBearer(
  ctx: Koa.Context,
  { provider, tokens, revokeToken, sessions, dpop }: Deps,
): Promise<void> {
  const [, scheme = '', value = ''] = /^(bearer|dpop) ([^ ]+)$/i.exec(ctx.get('authorization')) ?? [];
  const token = await tokens.find(value);
  const live = token?.kind === 'RefreshToken' ? undefined : await tokens.live(token);
  const uid = token?.kind === 'AccessToken' ? token.sessionUid : undefined;
  // A request that is repeated after a crash completes the sign-out that it had begun.
  if (live === undefined && uid !== undefined) await sessions.finishEndingOf({ uid });
  if (live !== undefined) {
    const presented = { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', value } as const;
    await dpop.checkBinding(ctx, presented, live.token);
    const client = await provider().Client.find(live.token.clientId ?? '');
    // A token for an API has an audience; one for userinfo has none (models/jwt-format.ts).
    const isForUs =
      live.token.kind === 'AccessToken' && live.token.aud === undefined && !isOfFragment(live.token);
    const isFirstParty = client !== undefined && clientRecord(client).skipConsent;
    if (uid !== undefined && isForUs && isFirstParty && live.scopes.has('openid')) await sessions.end(uid);
    else await revokeToken(live.token, { isWholeGrant: true });
  }
  ctx.status = 200;
  ctx.body = { status: 'signed_out' };
}

export function refuseClient(ctx: Koa.Context, { clientId }: Client): void {
  noteClient(ctx, clientId);
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Basic realm="logout"');
  ctx.body = {
    error: 'invalid_client',
    error_description:
      'A sign-out by id_token_hint without a browser needs the authentication of its client.',
  };
}
