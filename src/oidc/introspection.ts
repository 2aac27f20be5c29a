// POST /oauth2/introspect: administrators use a bearer token (specification §4.2), clients their own authentication
// (RFC 7662 §2.1), which the library checks. The response is always ours (token-state.ts).
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { AuthorizeAdmin } from './admin-bearer.ts';
import type { ReadForm } from './form.ts';
import { isAboutAnothersToken } from './policies.ts';
import { describeToken, type TokenState } from './token-state.ts';

interface Deps {
  readonly issuer: string;
  readonly tokens: TokenState;
  readonly authorizeAdmin: AuthorizeAdmin;
  readonly readForm: ReadForm;
}

/** Answers introspection with a bearer token; other requests continue to the library's client authentication. */
export function introspectAsAdmin({ issuer, tokens, authorizeAdmin, readForm }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    const authorization = ctx.get('authorization');
    if (!/^bearer\b/i.test(authorization)) return next();
    ctx.set('Cache-Control', 'no-store');
    // Introspection changes nothing, although it is a POST.
    await authorizeAdmin(authorization, 'read');
    const form = await readForm(ctx);
    const token = form.get('token');
    if (token === undefined || token === '') {
      throw new AppError('request.malformed', { message: 'The form field "token" is missing.' });
    }
    ctx.body = describeToken(await tokens.live(await tokens.find(token)), issuer);
    return undefined;
  };
}

interface LibraryAnswer {
  readonly active?: unknown;
  readonly error_description?: unknown;
}

/**
 * Replaces the library's response: our body for an active token; 401 when client authentication is missing (RFC 6749
 * §5.2), which offers Bearer as well at introspection only.
 */
export function introspectAsClient({ issuer, tokens }: Pick<Deps, 'issuer' | 'tokens'>): Koa.Middleware {
  return async (ctx, next) => {
    await next();
    const answer: LibraryAnswer = typeof ctx.body === 'object' && ctx.body !== null ? ctx.body : {};
    if (answer.active === true || isAboutAnothersToken(ctx)) {
      const { AccessToken, ClientCredentials, RefreshToken } = ctx.oidc.entities;
      ctx.body = describeToken(await tokens.live(AccessToken ?? ClientCredentials ?? RefreshToken), issuer);
    } else if (answer.error_description === 'no client authentication mechanism provided') {
      const isIntrospection = ctx.oidc.route === 'introspection';
      ctx.status = 401;
      ctx.set(
        'WWW-Authenticate',
        `${isIntrospection ? `Bearer realm="${issuer}", ` : ''}Basic realm="${issuer}"`,
      );
      ctx.body = {
        error: 'invalid_client',
        error_description: `${isIntrospection ? 'an admin bearer or ' : ''}client authentication is required`,
      };
    }
  };
}
