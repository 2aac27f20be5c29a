// POST /oauth2/introspect: administrators use a bearer token (decision 0003), APIs their own credentials, clients their
// own authentication (RFC 7662 §2.1), which the library checks. The response is always ours (token-state.ts).
import type Koa from 'koa';
import { type Apis, isIntrospectionClientId } from '../../apis/index.ts';
import { AppError } from '../../errors.ts';
import { countedAs } from '../../http/index.ts';
import { isAboutAnothersToken } from '../policies.ts';
import { type Form, type ReadForm, restoreForm } from '../requests/form.ts';
import type { AuthorizeAdmin } from './admin-bearer.ts';
import { describeToApi, describeToken, type TokenState } from './token-state.ts';

interface ApiDeps {
  readonly issuer: string;
  readonly tokens: TokenState;
  readonly apis: Pick<Apis, 'authenticate'>;
  readonly readForm: ReadForm;
  /** Counts a refused authentication. @throws AppError request.rate_limited */
  readonly chargeRefusedClient: (clientId: string, address: string) => Promise<unknown>;
}

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** RFC 6749 §2.3.1. @returns the id and secret of a Basic header */
function basicCredentials(authorization: string): Credentials | undefined {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  const pair = Buffer.from(encoded, 'base64').toString();
  const at = pair.indexOf(':');
  if (at < 0) return undefined;
  const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  try {
    return { id: decoded(pair.slice(0, at)), secret: decoded(pair.slice(at + 1)) };
  } catch {
    return undefined;
  }
}

/**
 * Answers introspection with the credentials of an API (decisions 0003 and 0026): about access tokens meant for that API. These
 * credentials are no client, so every other endpoint refuses them. Other requests continue.
 */
export function introspectAsApi(deps: ApiDeps): Koa.Middleware {
  const { issuer, tokens, apis, readForm, chargeRefusedClient } = deps;
  return async (ctx, next) => {
    const authorization = ctx.get('authorization');
    const inHeader = basicCredentials(authorization);
    if (authorization !== '' && !isIntrospectionClientId(inHeader?.id ?? '')) return next();
    const form = await readForm(ctx);
    const given = inHeader ?? { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' };
    if (!isIntrospectionClientId(given.id)) {
      restoreForm(ctx, form);
      return next();
    }
    ctx.set('Cache-Control', 'no-store');
    const isTwice = inHeader !== undefined && form.get('client_secret') !== undefined;
    const api = isTwice ? undefined : await apis.authenticate(given.id, given.secret);
    if (api === undefined) {
      await chargeRefusedClient(given.id, countedAs(ctx));
      ctx.status = 401;
      ctx.set('WWW-Authenticate', `Basic realm="${issuer}"`);
      ctx.body = { error: 'invalid_client', error_description: 'client authentication failed' };
      return undefined;
    }
    ctx.body = describeToApi(await tokens.live(await tokens.find(tokenIn(form))), api);
    return undefined;
  };
}

/** @throws AppError request.malformed */
function tokenIn(form: Form): string {
  const token = form.get('token');
  if (token !== undefined && token !== '') return token;
  throw new AppError('request.malformed', { message: 'The form field "token" is missing.' });
}

interface Deps {
  readonly issuer: string;
  readonly tokens: TokenState;
  readonly authorizeAdmin: AuthorizeAdmin;
  readonly readForm: ReadForm;
}

/** Answers introspection with a bearer token; other requests continue to the library's client authentication. */
export function introspectAsAdmin({ issuer, tokens, authorizeAdmin, readForm }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (!/^(?:bearer|dpop)\b/i.test(ctx.get('authorization'))) return next();
    ctx.set('Cache-Control', 'no-store');
    // Introspection changes nothing, although it is a POST.
    await authorizeAdmin(ctx, 'read');
    const token = tokenIn(await readForm(ctx));
    ctx.body = describeToken(await tokens.live(await tokens.find(token)), issuer);
    return undefined;
  };
}

interface LibraryAnswer {
  readonly active?: unknown;
  readonly error_description?: unknown;
}

/** What the library says where there are none, or in a scheme that is not Basic (lib/shared/client_auth.js). */
const WITHOUT_CREDENTIALS: ReadonlySet<unknown> = new Set([
  'no client authentication mechanism provided',
  'invalid authorization header value format',
]);

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
    } else if (ctx.oidc?.route !== 'userinfo' && WITHOUT_CREDENTIALS.has(answer.error_description)) {
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
