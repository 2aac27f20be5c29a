// Owns GET and POST /oauth2/logout (decisions §4): at once where the request proves itself, by a button where another
// site could have sent the browser here. Ending comes first, the cookie and the answer after.

import type Koa from 'koa';
import type { Client, Session } from 'oidc-provider';
import { AppError } from '../errors.ts';
import type { BrowserSession } from './browser-session.ts';
import type { Form, ReadForm } from './form.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { type LogoutRequest, readLogoutRequest } from './logout-request.ts';
import type { AnyToken, TokenState } from './token-state.ts';

export interface LogoutPages {
  signedOut(ctx: Koa.Context, client: Client | undefined): void;
  confirm(ctx: Koa.Context, fields: readonly { name: string; value: string }[]): void;
  /** Whether the form comes from our own confirmation page in this browser. @throws AppError when it only claims so */
  isConfirmed(ctx: Koa.Context, form: Form): boolean;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly browser: BrowserSession;
  readonly tokens: TokenState;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly endSession: (uid: string) => Promise<boolean>;
  readonly readForm: ReadForm;
  readonly pages: LogoutPages;
}

const PARAMETERS = ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state', 'ui_locales'];

export function logoutRoute(deps: Deps): Koa.Middleware {
  const { provider, browser, endSession, readForm, pages } = deps;
  return async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const form = ctx.method === 'POST' && ctx.get('content-type') !== '' ? await readForm(ctx) : undefined;
    const session = await browser.current(ctx);
    if (session === undefined && ctx.get('authorization') !== '') return logoutByToken(ctx, deps);

    const parameters = form ?? queryOf(ctx);
    const request = await readLogoutRequest(provider(), parameters);
    if (session !== undefined) {
      const isConfirmed = form !== undefined && pages.isConfirmed(ctx, form);
      if (!isConfirmed && needsConfirmation(ctx, request, session)) {
        const fields = PARAMETERS.map((name) => ({ name, value: parameters.get(name) ?? '' }));
        pages.confirm(
          ctx,
          fields.filter(({ value }) => value !== ''),
        );
        return;
      }
      await endSession(session.uid);
    }
    browser.clearCookie(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
    if (request.returnTo === undefined) pages.signedOut(ctx, request.client);
    else {
      ctx.status = 303;
      ctx.redirect(request.returnTo);
    }
  };
}

/**
 * Another site may send a browser here by a link, a frame or a form. An ID token of this very session shows that an
 * application it is signed in at asks; any other one does not, and the person is asked (RP-Initiated Logout §2). Without
 * one, only a request that no other site caused is obeyed at once.
 */
function needsConfirmation(
  ctx: Koa.Context,
  { hint, hasHint, client }: LogoutRequest,
  session: Session,
): boolean {
  const isCrossSite = ctx.get('sec-fetch-site') === 'cross-site';
  const mode = ctx.get('sec-fetch-mode');
  if (isCrossSite && mode !== '' && mode !== 'navigate') return true;
  if (!hasHint) return isCrossSite;
  const sid = client && session.sidFor(client.clientId);
  return sid === undefined || hint?.sid !== sid || hint.sub !== session.accountId;
}

/** A program without cookies: its access token's session ends, or the token itself where there is no session. */
async function logoutByToken(ctx: Koa.Context, { tokens, endSession, revokeToken }: Deps): Promise<void> {
  const [, bearer = ''] = /^bearer ([^ ]+)$/i.exec(ctx.get('authorization')) ?? [];
  const live = await tokens.live(await tokens.find(bearer));
  if (live !== undefined) {
    const uid = live.token.kind === 'ClientCredentials' ? undefined : live.token.sessionUid;
    if (uid === undefined) await revokeToken(live.token);
    else await endSession(uid);
  }
  ctx.status = 200;
  ctx.body = { status: 'signed_out' };
}

/** @throws AppError request.malformed for a parameter that was sent twice, as the form reader does (RFC 6749 §3.1) */
function queryOf(ctx: Koa.Context): { get(name: string): string | undefined } {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of PARAMETERS) {
    if (query.getAll(name).length > 1)
      throw new AppError('request.malformed', {
        message: `The parameter "${name}" was sent more than once.`,
      });
  }
  return { get: (name) => query.get(name) ?? undefined };
}
