// Owns POST /oauth2/revoke (RFC 7009, decisions §3): the token itself is the proof, so no authentication is needed; where
// credentials come along they must be right. The answer is 200 and empty, whatever the token was.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { type Form, type ReadForm, restoreForm } from './form.ts';
import type { AnyToken, TokenState } from './token-state.ts';

interface RevokeDeps {
  readonly revokeGrant: (grantId: string) => Promise<void>;
}

/** Ends an access token, or with a refresh token its whole grant (RFC 7009 §2.1). */
export function createRevokeToken({ revokeGrant }: RevokeDeps) {
  return async (token: AnyToken): Promise<void> => {
    if (token.kind === 'RefreshToken' && token.grantId !== undefined) await revokeGrant(token.grantId);
    else await token.destroy();
  };
}

interface Deps {
  readonly tokens: TokenState;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly readForm: ReadForm;
}

const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type'];

/** Revokes without client authentication; requests with credentials go on to the library, which checks them. */
export function revokeByPossession({ tokens, revokeToken, readForm }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.get('authorization') !== '') return next();
    const form = await readAsForm(ctx, readForm);
    if (CREDENTIALS.some((name) => form.get(name) !== undefined)) {
      restoreForm(ctx, form);
      return next();
    }
    const bearer = form.get('token');
    const clientId = form.get('client_id');
    if (bearer !== undefined && bearer !== '') {
      const token = await tokens.find(bearer);
      const isTheirs = clientId === undefined || clientId === '' || clientId === token?.clientId;
      if (token !== undefined && isTheirs) await revokeToken(token);
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 200;
    ctx.body = '';
    return undefined;
  };
}

async function readAsForm(ctx: Koa.Context, readForm: ReadForm): Promise<Form> {
  if (ctx.get('content-type') === '') return { get: () => undefined, keys: () => [] };
  try {
    return await readForm(ctx);
  } catch (error) {
    // The only refusal here is a body that is no form, and that one is 400 (decisions §3).
    if (error instanceof AppError && error.code === 'request.unsupported_media_type') {
      throw new AppError('request.malformed', { message: 'Only a form is taken here.', cause: error });
    }
    throw error;
  }
}
