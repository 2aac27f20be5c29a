// GET and POST /oauth2/logout (decisions §4): immediate when the request is authentic, with a confirmation page when another
// site could have sent the browser here (logout CSRF). The session is ended before the cookie is cleared.

import type Koa from 'koa';
import type { Client } from 'oidc-provider';
import { AppError } from '../errors.ts';
import type { BrowserSession } from './browser-session.ts';
import type { Form, ReadForm } from './form.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { readLogoutRequest } from './logout-request.ts';
import type { AnyToken, TokenState } from './token-state.ts';

export interface LogoutPages {
  signedOut(ctx: Koa.Context, client: Client | undefined): void;
  confirm(ctx: Koa.Context, fields: readonly { name: string; value: string }[]): void;
  /** Whether the form comes from our confirmation page in this browser. @throws AppError for a forged one */
  isConfirmed(ctx: Koa.Context, form: Form): boolean;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly browser: BrowserSession;
  readonly tokens: TokenState;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly endSession: (uid: string, by?: { readonly cookieDigest: string }) => Promise<boolean>;
  /** A repeated request after a sign-out that failed half-way (503): completes that sign-out. */
  readonly finishEnding: (
    ended: { readonly uid: string } | { readonly cookieDigest: string },
  ) => Promise<void>;
  readonly readForm: ReadForm;
  readonly pages: LogoutPages;
}

const PARAMETERS = ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state', 'ui_locales'];

export function logoutRoute(deps: Deps): Koa.Middleware {
  const { provider, browser, endSession, finishEnding, readForm, pages } = deps;
  return async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const { parameters, form, ...read } = await readParameters(ctx, readForm);
    const session = await browser.current(ctx);
    if (session === undefined && ctx.get('authorization') !== '') {
      await logoutByToken(ctx, deps);
      if (read.problem !== undefined) throw read.problem;
      return;
    }
    refuseSubresource(ctx);
    const request = await readLogoutRequest(provider(), parameters, session);
    const problem = read.problem ?? request.problem;
    if (session !== undefined) {
      const isConfirmed = form !== undefined && pages.isConfirmed(ctx, form);
      if (!isConfirmed && !request.isHinted && isFromElsewhere(ctx)) {
        if (problem !== undefined) throw problem;
        const fields = PARAMETERS.map((name) => ({ name, value: parameters.get(name) ?? '' }));
        pages.confirm(
          ctx,
          fields.filter(({ value }) => value !== ''),
        );
        return;
      }
      await endSession(session.uid, browser.cookieDigest(ctx));
    } else {
      const by = browser.cookieDigest(ctx);
      if (by !== undefined) await finishEnding(by);
    }
    browser.clearCookie(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
    // An error of the application must not keep the user signed in; it is reported after the sign-out.
    if (problem !== undefined) throw problem;
    if (request.returnTo === undefined) pages.signedOut(ctx, request.client);
    else {
      ctx.status = 303;
      ctx.redirect(request.returnTo);
    }
  };
}

/** Rejects an image, frame or script on any site, our own and sibling hosts included (CVE-2020-10734; checklist R065). */
function refuseSubresource(ctx: Koa.Context): void {
  const [site, dest, mode] = ['site', 'dest', 'mode'].map((name) => ctx.get(`sec-fetch-${name}`));
  // Browsers send Sec-Fetch-Site; Node's fetch sends only the mode.
  if (site === '') return;
  const isNavigation = ['', 'document'].includes(dest ?? '') && ['', 'navigate'].includes(mode ?? '');
  if (isNavigation) return;
  throw new AppError('request.csrf', {
    message: 'The sign-out page must be opened as a page. It cannot be loaded as part of another page.',
  });
}

/**
 * Whether another site may have sent the browser here by a link or a form. A sibling host counts as another site, because
 * it may serve uploaded content. Without Sec-Fetch-Site (plain http hosts), Origin and Referer decide, and a navigation
 * without either could come from any site.
 */
function isFromElsewhere(ctx: Koa.Context): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site === 'cross-site' || site === 'same-site';
  const origin = ctx.get('origin');
  if (origin !== '') return origin !== ctx.origin;
  const referrer = ctx.get('referer');
  if (referrer !== '') return URL.parse(referrer)?.origin !== ctx.origin;
  return ctx.get('upgrade-insecure-requests') !== '';
}

/** A client without cookies: ends the session of its access token, or revokes the token if it has no session. */
async function logoutByToken(
  ctx: Koa.Context,
  { tokens, endSession, finishEnding, revokeToken }: Deps,
): Promise<void> {
  const [, bearer = ''] = /^bearer ([^ ]+)$/i.exec(ctx.get('authorization')) ?? [];
  const token = await tokens.find(bearer);
  const live = await tokens.live(token);
  const uid = token === undefined || token.kind === 'ClientCredentials' ? undefined : token.sessionUid;
  if (live === undefined && uid !== undefined) await finishEnding({ uid });
  else if (uid !== undefined) await endSession(uid);
  else if (live !== undefined) await revokeToken(live.token);
  ctx.status = 200;
  ctx.body = { status: 'signed_out' };
}

type Parameters = { get(name: string): string | undefined };

interface ReadParameters {
  readonly parameters: Parameters;
  readonly form?: Form | undefined;
  /** Why the parameters cannot be read; the request is still one to sign out. */
  readonly problem?: AppError | undefined;
}

async function readParameters(ctx: Koa.Context, readForm: ReadForm): Promise<ReadParameters> {
  try {
    if (ctx.method !== 'POST' || ctx.get('content-type') === '') return { parameters: queryOf(ctx) };
    const form = await readForm(ctx);
    return { parameters: form, form };
  } catch (error) {
    if (error instanceof AppError) return { parameters: { get: () => undefined }, problem: error };
    throw error;
  }
}

/** @throws AppError request.malformed for a parameter that was sent twice, as the form reader does (RFC 6749 §3.1) */
function queryOf(ctx: Koa.Context): Parameters {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of PARAMETERS) {
    if (query.getAll(name).length > 1)
      throw new AppError('request.malformed', {
        message: `The parameter "${name}" was sent more than once.`,
      });
  }
  return { get: (name) => query.get(name) ?? undefined };
}
