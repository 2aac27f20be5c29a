// Owns what the protocol core lets a trial do ("Try it" in the Admin UI: an administrator signs in as an application that
// is registered here, and sees what it would get). Who began one, and that it comes back once, is src/clients/trials.ts.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';

/**
 * A trial goes the application's whole way: authorization endpoint, sign-in, consent, token endpoint. Two things stand
 * against it, and here is what opens them:
 *
 * 1. The way back must lead to us, and no application has registered that. The address below is taken at the
 *    authorization endpoint for nothing but a request that this browser's administrator began a moment ago, letter by
 *    letter (`admitTrials`). Nobody can register it, push a request with it, or get anything by sending a person there.
 * 2. The secret is known to nobody here. So the code is redeemed by a request that never comes over a network: its object
 *    is marked in this process (`markTrialExchange`), and for that one request the application counts as public
 *    (models/client.ts). What is marked is an object, not a value, so nothing that could be sent from outside says the
 *    same. Everywhere else a code with this address is refused, with the right secret and the right verifier too
 *    (models/oidc-context.ts).
 *
 * What a trial gives hangs on a grant of its own (models/grant.ts) that lives ten minutes and is ended before the
 * outcome is shown; no real sign-in starts from it, and no consent is remembered.
 */
export const trialRedirectUri = (baseUrl: string): string => `${baseUrl}/admin/applications/try/callback`;

/** Requests to the client id that each is for. */
const admitted = new WeakMap<IncomingMessage, string>();
const exchanges = new WeakMap<IncomingMessage, string>();

/** Whether this authorization request may have a trial's redirect URI. */
export const isAdmittedTrial = (request: IncomingMessage, clientId: string): boolean =>
  admitted.get(request) === clientId;

/** @param request one of our own to the token endpoint (src/http/in-process.ts) */
export function markTrialExchange(request: IncomingMessage, clientId: string): void {
  exchanges.set(request, clientId);
}

export const isTrialExchange = (request: IncomingMessage, clientId: string): boolean =>
  exchanges.get(request) === clientId;

interface Deps {
  readonly redirectUri: string;
  /** Whether a signed-in administrator began exactly this request, in this browser and session. */
  readonly isBegun: (ctx: Koa.Context, query: URLSearchParams) => Promise<boolean>;
}

/** Goes before the authorization endpoint. */
export function admitTrials({ redirectUri, isBegun }: Deps): Koa.Middleware {
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
