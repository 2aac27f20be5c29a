// GET and POST /oauth2/logout (decision 0005): immediate when the request is authentic, with a confirmation page when another
// site could have sent the browser here (logout CSRF). The session is ended before the cookie is cleared. Requests of programs
// by other credentials than the session's are in logout-programs.ts.

import type Koa from 'koa';
import type { Client, Session } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Events } from '../../events/index.ts';
import { MAX_TARGET } from '../../http/index.ts';
import type { Grants, Sessions } from '../../sessions/index.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import type { FramesOf } from '../legacy/index.ts';
import { clientRecord } from '../models/client.ts';
import { CLOCK_TOLERANCE_SECONDS } from '../policies.ts';
import type { ProtocolContext } from '../provider-middleware.ts';
import type { Form, ReadForm } from '../requests/form.ts';
import { noteRefusal } from '../requests/refusals.ts';
import type { BrowserSession } from '../sign-in/browser-session.ts';
import type { DpopProofs } from '../tokens/dpop.ts';
import type { RevokeToken } from '../tokens/revocation.ts';
import type { TokenState } from '../tokens/token-state.ts';
import {
  authenticateClient,
  type GraceSetting,
  hasBearer,
  hasClientCredentials,
  logoutByBearer,
  logoutByRefreshToken,
  refuseClient,
} from './logout-programs.ts';
import {
  type Hint,
  type HintedSession,
  type LogoutRequest,
  readLogoutRequest,
  type Standing,
} from './logout-request.ts';
import { endPast, noteEnding } from './past-session.ts';
import { isFromElsewhere, refuseSubresource } from './sent-from.ts';
import { isUnverified, withoutAddress } from './unverified-client.ts';

interface AfterSignOut {
  readonly frames: readonly string[];
  readonly returnTo: string | undefined;
}

export interface LogoutPages {
  /** @param after what is loaded in frames first, and where the browser goes then; default: nothing and nowhere */
  signedOut(ctx: Koa.Context, client: Client | undefined, after?: AfterSignOut): void;
  /** Nothing has ended: the application's sign-in is another browser's. */
  elsewhere(ctx: Koa.Context): void;
  confirm(ctx: Koa.Context, fields: readonly { name: string; value: string }[]): void;
  /** Whether the form comes from our confirmation page in this browser. @throws AppError for a forged one */
  isConfirmed(ctx: Koa.Context, form: Form): boolean;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly browser: BrowserSession;
  readonly tokens: TokenState;
  readonly revokeToken: RevokeToken;
  /** `finishEndingOf`: a repeated request after a sign-out that failed half-way (503) completes that sign-out. */
  readonly sessions: Pick<Sessions, 'end' | 'endPast' | 'finishEndingOf' | 'findBySid'>;
  readonly grants: Pick<Grants, 'revokeOfClientInSession'>;
  readonly readForm: ReadForm;
  readonly pages: LogoutPages;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
  readonly framesOf: FramesOf;
  /** Clears what frames of applications read (legacy/browser-state.ts), if it is there. */
  readonly forgetState: (ctx: Koa.Context) => void;
  readonly events: Pick<Events, 'note'>;
  readonly clock: Clock;
  readonly settings: GraceSetting;
  /** Path of the endpoint as browsers see it. */
  readonly path: string;
}

const PARAMETERS = ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state', 'ui_locales'];

export function logoutRoute(deps: Deps) {
  const { browser, readForm } = deps;
  return async (ctx: ProtocolContext, next: Koa.Next): Promise<void> => {
    ctx.set('Cache-Control', 'no-store');
    // Who asks whether the page is there ends nothing (RFC 9110 §9.2.1).
    if (ctx.method === 'HEAD') {
      ctx.status = 200;
      return undefined;
    }
    const read = await readParameters(ctx, readForm);
    if (read.form !== undefined && (read.form.get('refresh_token') ?? '') !== '')
      return logoutByRefreshToken(ctx, next, read.form, deps);
    const session = await browser.current(ctx);
    if (session === undefined && hasBearer(ctx)) {
      await logoutByBearer(ctx, deps);
      if (read.problem !== undefined) throw read.problem;
      return undefined;
    }
    refuseSubresource(ctx);
    if (session !== undefined) return logoutOfBrowser(ctx, session, read, deps);
    if (isOfProgram(ctx, browser)) return logoutByHint(ctx, next, read, deps);
    if (goesRoundByGet(ctx, read, deps)) return undefined;
    const by = browser.cookieDigest(ctx);
    if (by !== undefined) await deps.sessions.finishEndingOf(by);
    const request = await requestOf(ctx, read, deps, (hint, client) => endPast(ctx, hint, client, deps));
    return answer(ctx, withoutAddress(request), read, deps);
  };
}

async function logoutOfBrowser(
  ctx: Koa.Context,
  session: Session & { accountId: string },
  read: ReadParameters,
  deps: Deps,
): Promise<void> {
  const { pages, sessions, browser } = deps;
  /** The application is signed in in this very session, by the sign-in that the hint is from. */
  const isOfThis = (hint: Hint, client: Client): boolean =>
    session.sidFor(client.clientId) === hint.sid && hint.sub === session.accountId;
  const request = await requestOf(ctx, read, deps, async (hint, client) =>
    isOfThis(hint, client) ? session : endPast(ctx, hint, client, deps),
  );
  const isConfirmed = read.form !== undefined && pages.isConfirmed(ctx, read.form);
  const asker = request.session && request.client;
  const isOfUnverified = isUnverified(asker);
  if (asker && isOfUnverified) await deps.grants.revokeOfClientInSession(session.uid, asker.clientId);
  const isItsSession = request.session !== undefined && !isOfUnverified;
  if (!isConfirmed && !isItsSession && (isOfUnverified || isFromElsewhere(ctx))) {
    const problem = read.problem ?? request.problem;
    if (problem !== undefined) throw problem;
    const fields = PARAMETERS.map((name) => ({ name, value: read.parameters.get(name) ?? '' }));
    pages.confirm(
      ctx,
      fields.filter(({ value }) => value !== ''),
    );
    return;
  }
  const admitted = isConfirmed ? request : withoutAddress(request);
  const returnsTo = admitted.returnTo === undefined ? undefined : admitted.client?.clientId;
  const frames = await deps.framesOf(session);
  await sessions.end(session.uid, { ...browser.cookieDigest(ctx), returnsTo });
  // Read by the error page, where the request had something wrong: the person wants to know this first (RP-Initiated Logout §2).
  ctx.state.isSignedOut = true;
  answer(ctx, { ...admitted, isElsewhere: false }, read, deps, frames);
}

/** A server that signs its user out without a browser: its ID token names the session. */
async function logoutByHint(
  ctx: ProtocolContext,
  next: Koa.Next,
  read: ReadParameters,
  deps: Deps,
): Promise<void> {
  const { sessions, events, clock } = deps;
  const hasHint = (read.parameters.get('id_token_hint') ?? '') !== '';
  const isAuthenticated = hasHint && hasClientCredentials(ctx, read.form);
  const authenticated = isAuthenticated ? await authenticateClient(ctx, next, read.form) : undefined;
  if (isAuthenticated && authenticated === undefined) return;
  let unproven: Client | undefined;
  const request = await requestOf(ctx, read, deps, async (hint, named) => {
    const { clientId } = named;
    const { sub, sid, iat } = hint;
    const isOther = authenticated !== undefined && authenticated.clientId !== clientId;
    const isMissing = authenticated === undefined && clientRecord(named).logoutNeedsAuth === true;
    if (isOther || isMissing) unproven = named;
    const session = await sessions.findBySid({ accountId: sub, clientId, sid });
    if (session === undefined)
      return isOther ? 'elsewhere' : endPast(ctx, hint, named, deps, authenticated !== undefined);
    const isWithin =
      iat >= session.startedAt - CLOCK_TOLERANCE_SECONDS &&
      iat <= epochSeconds(clock) + CLOCK_TOLERANCE_SECONDS;
    return isWithin ? { ...session, accountId: sub } : 'elsewhere';
  });
  const { session, client, isElsewhere } = request;
  if (unproven !== undefined && (session !== undefined || isElsewhere === true))
    return refuseClient(ctx, unproven);
  if (session !== undefined && client !== undefined) {
    if (isUnverified(client)) {
      await deps.grants.revokeOfClientInSession(session.uid, client.clientId);
      return answer(ctx, withoutAddress(request), read, deps);
    }
    await sessions.end(session.uid);
    noteEnding(events, client, session);
  }
  answer(ctx, withoutAddress(request), read, deps);
}

/** After the session has ended: clears the cookie and says what is left to say. */
function answer<S extends HintedSession>(
  ctx: Koa.Context,
  request: LogoutRequest<S>,
  read: ReadParameters,
  deps: Deps,
  frames: readonly string[] = [],
): void {
  const { browser, pages } = deps;
  // A POST from another site comes without the cookie: what it cannot end it must not clear either (R065).
  if (browser.cookieDigest(ctx) !== undefined) {
    browser.clearCookie(ctx);
    deps.forgetState(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
  }
  // An error of the application must not keep the user signed in; it is reported after the sign-out.
  const problem = read.problem ?? request.problem;
  if (problem !== undefined) throw problem;
  const { client, returnTo, isElsewhere } = request;
  if (isElsewhere === true) pages.elsewhere(ctx);
  else if (frames.length > 0) pages.signedOut(ctx, client, { frames, returnTo });
  else if (returnTo === undefined) pages.signedOut(ctx, client);
  else {
    ctx.status = 303;
    ctx.redirect(returnTo);
  }
}

async function requestOf<S extends HintedSession>(
  ctx: Koa.Context,
  { parameters }: ReadParameters,
  { provider }: Deps,
  standingOf: (hint: Hint, client: Client) => Promise<Standing<S>>,
): Promise<LogoutRequest<S>> {
  const request = await readLogoutRequest(provider(), parameters, standingOf);
  const { refusal } = request;
  if (refusal !== undefined) noteRefusal(ctx, refusal);
  // Read by the error page, which links to where it is registered.
  if (refusal?.address !== undefined)
    ctx.state.unregisteredLogout = { clientId: refusal.clientId, address: refusal.address };
  return request;
}

/**
 * Browsers send a cookie that they may send. A form of another site goes without (SameSite=Lax), and on plain http without
 * Sec-Fetch-Site, too; Node's fetch sends Sec-Fetch-Mode alone.
 */
const isOfProgram = (ctx: Koa.Context, browser: BrowserSession): boolean =>
  browser.cookieDigest(ctx) === undefined && ctx.get('sec-fetch-site') === '' && !isFromElsewhere(ctx);

/** A POST from another site carries no session cookie (SameSite=Lax); the GET after the redirect does. */
function goesRoundByGet(ctx: Koa.Context, { form }: ReadParameters, { browser, path }: Deps): boolean {
  if (form === undefined || !isFromElsewhere(ctx) || browser.cookieDigest(ctx) !== undefined) return false;
  const given = PARAMETERS.map((name): [string, string] => [name, form.get(name) ?? '']).filter(
    ([, value]) => value !== '',
  );
  // A redirect that is too long for our own server would be a 414: first without the state, then without anything.
  const [target = path] = [given, given.filter(([name]) => name !== 'state')]
    .filter((parameters) => parameters.length > 0)
    .map((parameters) => `${path}?${new URLSearchParams(parameters)}`)
    .filter(({ length }) => length <= MAX_TARGET);
  ctx.status = 303;
  ctx.redirect(target);
  return true;
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
