// What the protocol core allows a test sign-in ("Try it" in the Admin UI: an administrator signs in to a registered application
// and sees what it would get). src/oidc/test-sign-in/test-sign-ins.ts records who started one, and that it is used once.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';

/**
 * A test sign-in uses the same endpoints as the application: authorization, sign-in, consent, token. Two rules need an
 * exception:
 *
 * 1. The redirect URI is ours, and no application has registered it. The authorization endpoint accepts it only for the exact
 *    request that the administrator of this browser just started (`admitTestSignIns`). It cannot be registered or used in a
 *    pushed request, and a link to it gives an attacker nothing.
 * 2. We do not know the client secret. The code is redeemed by an injected request that never crosses a network: its object is
 *    marked in this process (`markTestSignInExchange`), and for that request the application counts as public
 *    (models/client.ts). The mark is on an object, not a value, so no request from outside can have it. Every other request
 *    with such a code is refused, even with a valid secret and verifier (models/oidc-context.ts).
 *
 * The tokens belong to a separate grant (models/grant.ts) that expires after ten minutes and is revoked before the result is
 * shown. No real sign-in uses that grant, and no consent is remembered.
 */
export const testSignInRedirectUri = (baseUrl: string): string =>
  `${baseUrl}/admin/applications/try/callback`;

/** The client id of each admitted or marked request. */
const admitted = new WeakMap<IncomingMessage, string>();
const exchanges = new WeakMap<IncomingMessage, string>();

/** Whether this authorization request may use the redirect URI of test sign-ins. */
export const isAdmittedTestSignIn = (request: IncomingMessage, clientId: string): boolean =>
  admitted.get(request) === clientId;

/** @param request an injected request to the token endpoint */
export function markTestSignInExchange(request: IncomingMessage, clientId: string): void {
  exchanges.set(request, clientId);
}

export const isTestSignInExchange = (request: IncomingMessage, clientId: string): boolean =>
  exchanges.get(request) === clientId;

interface Deps {
  readonly redirectUri: string;
  /** Whether a signed-in administrator started exactly this request, in this browser and session. */
  readonly isBegun: (ctx: Koa.Context, query: URLSearchParams) => Promise<boolean>;
}

/** Middleware before the authorization endpoint. */
export function admitTestSignIns({ redirectUri, isBegun }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.path === '/oauth2/authorize' && ctx.method === 'GET') {
      const query = new URLSearchParams(ctx.querystring);
      const clientId = query.get('client_id');
      const isAsked = query.get('redirect_uri') === redirectUri && clientId !== null;
      if (isAsked && (await isBegun(ctx, query))) admitted.set(ctx.req, clientId);
    }
    return next();
  };
}
