// POST /oauth2/revoke (RFC 7009, decision 0004): possession of the token is enough, so no authentication is required; client
// credentials that are sent must be valid. The response is 200 and empty for any token.
import type Koa from 'koa';
import type { Events } from '../../events/index.ts';
import { type Form, type ReadForm, readOptionalForm, restoreForm } from '../requests/form.ts';
import { noteClient } from '../requests/request-client.ts';
import type { AnyToken, TokenState } from './token-state.ts';

interface RevokeDeps {
  readonly events: Pick<Events, 'note'>;
  readonly revokeGrant: (grantId: string) => Promise<void>;
}

interface RevokeOptions {
  /** Revokes the grant of an access token, too. */
  readonly isWholeGrant?: boolean;
  /** The client that brought a used refresh token: recorded as reuse (RFC 9700 §4.14.2). */
  readonly reusedBy?: string;
}

export type RevokeToken = (token: AnyToken, options?: RevokeOptions) => Promise<void>;

/** Revokes an access token, or for a refresh token its whole grant (RFC 7009 §2.1). */
export function createRevokeToken({ revokeGrant, events }: RevokeDeps): RevokeToken {
  return async (token, { isWholeGrant = false, reusedBy } = {}) => {
    const grantId = token.kind === 'ClientCredentials' ? undefined : token.grantId;
    const isOfGrant = token.kind === 'RefreshToken' || isWholeGrant;
    if (isOfGrant && grantId !== undefined) await revokeGrant(grantId);
    else await token.destroy();
    events.note({
      event: reusedBy === undefined ? 'token.revoked' : 'token.reused',
      ...(reusedBy !== undefined && { outcome: 'failure', actor: { kind: 'client', id: reusedBy } }),
      // A refresh token's own id is its value, so its grant is named instead.
      target:
        isOfGrant && grantId !== undefined
          ? { kind: 'grant', id: grantId }
          : { kind: 'token', id: token.kind === 'RefreshToken' ? undefined : token.jti },
      clientId: token.clientId,
      details: {
        kind: token.kind,
        ...(token.kind !== 'ClientCredentials' && { user_id: token.accountId }),
      },
    });
  };
}

interface Deps {
  readonly tokens: TokenState;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly readForm: ReadForm;
}

const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type'];

/**
 * Revokes without client authentication; requests with client credentials continue to the library, which checks them. A
 * bearer token is not a client credential: some libraries always send one, and only the token in the form counts.
 */
export function revokeByPossession({ tokens, revokeToken, readForm }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    const authorization = ctx.get('authorization');
    const isOfClient = authorization !== '' && !/^(?:bearer|dpop)\b/i.test(authorization);
    const form = await readOptionalForm(ctx, readForm);
    if (isOfClient || CREDENTIALS.some((name) => form.get(name) !== undefined)) {
      restoreForm(ctx, withToken(form));
      await next();
      if (ctx.status === 200) answerNothing(ctx);
      return;
    }
    const bearer = form.get('token');
    const clientId = form.get('client_id');
    noteClient(ctx, clientId);
    if (bearer !== undefined && bearer !== '') {
      const token = await tokens.find(bearer);
      if (!clientId) noteClient(ctx, token?.clientId);
      const isTheirs = clientId === undefined || clientId === '' || clientId === token?.clientId;
      if (token !== undefined && isTheirs) await revokeToken(token);
    }
    answerNothing(ctx);
  };
}

/** Decision 0004: 200 and an empty body without a type, for any token. */
function answerNothing(ctx: Koa.Context): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 200;
  ctx.body = '';
  ctx.remove('Content-Type');
}

/** The library rejects a request without a token; for us it is one that revokes nothing. */
const withToken = (form: Form): Form => ({
  get: (name) => (name === 'token' ? form.get(name) || 'none' : form.get(name)),
  keys: () => [...new Set([...form.keys(), 'token'])],
});
