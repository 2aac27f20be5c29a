// Middleware before and after the library's routes: its errors go to our error boundary, an interaction is rendered in the
// same response instead of by a redirect, and its form with an inline script becomes our page.

import type Koa from 'koa';
import type { errors, Interaction, KoaContextWithOIDC } from 'oidc-provider';
import type { CodeExchanges } from '../clients/index.ts';
import { AppError } from '../errors.ts';
import { countedAs } from '../http/index.ts';
import { hasConsented } from './entitlements/load-grant.ts';
import { scopeInForm } from './entitlements/requested-api.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { clientRecord } from './models/client.ts';
import { keptToken } from './models/kept-refresh-token.ts';
import type { BrowserSession } from './sign-in/browser-session.ts';
import { keepErrorsUnsigned } from './signed-responses.ts';

export type ProtocolContext = Koa.Context & Partial<Pick<KoaContextWithOIDC, 'oidc'>>;

/** Stores in the context what the library reports by events alone, for the middleware below. */
export function captureProviderEvents(provider: Pick<IdentityProvider, 'on'>): void {
  keepErrorsUnsigned(provider);
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: Error) => {
    ctx.state.serverError = error;
  });
  provider.on('authorization.success', (ctx: KoaContextWithOIDC, response: object = {}) => {
    ctx.state.authorizationResponse = response;
  });
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
    // Read after this event (lib/shared/authorization_error_handler.js): the error becomes a page.
    if (isStranger(ctx)) {
      Object.assign(error, { allow_redirect: false });
      // Some errors have the status of a redirect.
      if (ctx.status < 400) ctx.status = 400;
    }
    const { state } = ctx.oidc.params ?? {};
    ctx.state.authorizationResponse = {
      error: error.message,
      error_description: error.error_description,
      state,
      iss: ctx.oidc.issuer,
    };
  });
}

/**
 * RFC 9700 §4.11.2: whoever brings a client of their own could otherwise use this server as an open redirector. What the person
 * answered on our page is no automatic redirect.
 */
function isStranger(ctx: KoaContextWithOIDC): boolean {
  const { client, entities } = ctx.oidc;
  if (client === undefined || clientRecord(client).quarantine === undefined) return false;
  const hasAnswered = entities.Interaction?.result?.error !== undefined;
  return !hasConsented(ctx) && !hasAnswered;
}

/** Our error boundary answers an unavailable store, a full queue or a bug, with its status, a request id and one log line. */
export const rethrowServerErrors: Koa.Middleware = async (ctx, next) => {
  await next();
  const error: unknown = ctx.state.serverError;
  if (error !== undefined) throw error;
};

const RESUMING = new Set<string | undefined>(['resume', 'device_resume']);

/** @param show renders the page of the interaction's next step; `isResumed`: the previous step has just finished */
export function showInteractions(
  show: (ctx: Koa.Context, interaction: Interaction, isResumed: boolean) => Promise<void>,
): Koa.Middleware {
  return async (ctx: ProtocolContext, next) => {
    await next();
    const interaction = ctx.oidc?.entities.Interaction;
    // After a resumed interaction the entity is the finished one; a new one comes with the library's redirect.
    if (interaction === undefined || ctx.status !== 303 || !isInteractionRedirect(ctx)) return;
    ctx.remove('Location');
    await show(ctx, interaction, RESUMING.has(ctx.oidc?.route));
  };
}

/** The path of `interactionUrl` (create-provider.ts), to which the library redirects the browser. */
const INTERACTION_PATH = '/oauth2/login';

const isInteractionRedirect = (ctx: Koa.Context): boolean =>
  ctx.response.get('Location').endsWith(INTERACTION_PATH) && ctx.response.get('Location').startsWith('/');

/** OAuth 2.0 Form Post Response Mode §2, without an inline script. */
export function showFormPosts(
  show: (ctx: Koa.Context, action: string, fields: readonly { name: string; value: string }[]) => void,
): Koa.Middleware {
  return async (ctx: ProtocolContext, next) => {
    await next();
    const response: unknown = ctx.state.authorizationResponse;
    const action = ctx.oidc?.params?.redirect_uri;
    const isForm = typeof ctx.body === 'string' && ctx.body.includes(FORM_POST_TITLE);
    if (!isForm) return;
    // Blank under our policy, and of no use to anybody: other forms of the library post to its own pages.
    if (typeof response !== 'object' || response === null || typeof action !== 'string')
      throw new AppError('signin.expired');
    const fields = Object.entries(response).filter(([, value]) => value !== undefined && value !== null);
    show(
      ctx,
      action,
      fields.map(([name, value]) => ({ name, value: String(value) })),
    );
  };
}

// The only HTML that the library renders itself (lib/response_modes/form_post.js); none of our pages has this title.
const FORM_POST_TITLE = '<title>Submitting Callback</title>';

/** The code in a link (RFC 8628 §3.3.1) is filled in, not submitted: the user compares and confirms it. */
export const prefillUserCode: Koa.Middleware = (ctx, next) => {
  if (ctx.method === 'GET' && ctx.path === '/device' && typeof ctx.query.user_code === 'string') {
    ctx.state.userCode = ctx.query.user_code.slice(0, 32);
    ctx.querystring = '';
  }
  return next();
};

/**
 * Counts failed client authentication per application and address, at every endpoint that has it. Only a
 * failure can become 429: a client with valid credentials is not locked out by others that guess.
 */
export function countRefusedClients(
  charge: (clientId: string, address: string) => Promise<unknown>,
): Koa.Middleware {
  return async (ctx: ProtocolContext, next) => {
    await next();
    const { body } = ctx;
    const isRefused =
      typeof body === 'object' && body !== null && 'error' in body && body.error === 'invalid_client';
    if (!isRefused) return;
    const { client, params } = ctx.oidc ?? {};
    await charge(client?.clientId ?? String(params?.client_id ?? ''), countedAs(ctx));
  };
}

/** Microsoft's libraries keep tokens by the scopes of the response, so it repeats how the request wrote them (decision 0026). */
export function inFormOfRequest(oidc: KoaContextWithOIDC['oidc'], body: object): object {
  return 'scope' in body && typeof body.scope === 'string'
    ? { ...body, scope: scopeInForm(oidc, body.scope) }
    : body;
}

export const repeatScopeForm: Koa.Middleware = async (ctx: ProtocolContext, next) => {
  await next();
  const { body, oidc } = ctx;
  // RFC 6749 §5.1.
  if (oidc?.route === 'token') ctx.set('Pragma', 'no-cache');
  if (oidc?.route !== 'token' || ctx.status !== 200 || typeof body !== 'object' || body === null) return;
  ctx.body = { ...inFormOfRequest(oidc, body), ...keptToken(ctx) };
};

/** For a sign-out after the session is over (logout/logout.ts). */
export function rememberSessions(remember: BrowserSession['remember']): Koa.Middleware {
  return async (ctx: ProtocolContext, next) => {
    await next();
    const session = ctx.oidc?.session;
    if (session?.accountId !== undefined && session.exp !== undefined) remember(ctx, session.uid);
  };
}

/** Reports the code that an application redeemed. */
export function reportCodeExchanges(redeemed: CodeExchanges['redeemed']): Koa.Middleware {
  return async (ctx: ProtocolContext, next) => {
    await next();
    const { oidc } = ctx;
    if (oidc?.route !== 'token' || ctx.status !== 200) return;
    const { client, entities } = oidc;
    const code = entities.AuthorizationCode;
    if (client === undefined || code === undefined) return;
    await redeemed({
      clientId: client.clientId,
      record: clientRecord(client),
      hasChallenge: code.codeChallenge !== undefined,
      hasNonce: !!code.nonce,
    });
  };
}
