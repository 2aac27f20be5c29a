// Error pages: our own errors, and protocol errors that must not be redirected. Every page has a way to continue: back to the
// application, the same page again, or the start page.
import type Koa from 'koa';
import { createBackTo, type ErrorPage, requestIdOf } from '../src/http/index.ts';
import { differsInLoopbackPort } from '../src/model/uris.ts';
import type { Client, ErrorOut, KoaContextWithOIDC } from '../src/oidc/sign-in.ts';
import { safeLink, type Text } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import type { WaysBack } from './way-back.ts';

interface Way {
  readonly backUrl: string;
  readonly backLabel: Text;
}

/** Most browsers and proxies take an address of this length. */
const MAX_LINK_LENGTH = 4000;

/**
 * Where an address is registered: the application's page, whose form a link fills in with it (nothing is saved by that). For
 * everyone, since it needs an administrator's sign-in: developers are seldom signed in where they test.
 * @param clientId undefined, or of a client whose metadata is not kept here: the Admin UI's start
 * @param filledIn what the form is filled in with
 */
function registerAt(
  ctx: Koa.Context | KoaContextWithOIDC,
  basePath: string,
  clientId: string | undefined,
  filledIn?: { readonly add_redirect_uri: string } | { readonly add_post_logout_redirect_uri: string },
) {
  const label = { key: 'detail.register_at' };
  const admin = `${ctx.origin}${basePath}/admin`;
  if (clientId === undefined || URL.canParse(clientId)) return { label, value: admin, href: admin };
  const page = `${admin}/applications/${encodeURIComponent(clientId)}`;
  const filled = filledIn === undefined ? page : `${page}?${new URLSearchParams(filledIn)}#by-link`;
  return { label, value: page, href: filled.length > MAX_LINK_LENGTH ? page : filled };
}

/** The page of an application whose post_logout_redirect_uri is not registered (src/oidc/logout/logout.ts). */
function registerLogoutAt(ctx: Koa.Context, basePath: string) {
  const { clientId, address }: { clientId?: unknown; address?: unknown } = {
    ...ctx.state.unregisteredLogout,
  };
  if (typeof clientId !== 'string' || typeof address !== 'string')
    return registerAt(ctx, basePath, undefined);
  return registerAt(ctx, basePath, clientId, { add_post_logout_redirect_uri: address });
}

/** Temporary errors: the user can retry the same address. */
const TEMPORARY = new Set([429, 500, 503]);

/** Pages whose form can be opened again at its own address. */
const OPEN_FORMS = new Set(['/oauth2/device', '/oauth2/forgot-password', '/oauth2/logout', '/onboard']);

const MAX_ADDRESS_LENGTH = 2000;

const isRead = ({ method }: Koa.Context): boolean => method === 'GET' || method === 'HEAD';

/** The path below BASE_URL's, which a failed request may still include. */
const pathBelow = (path: string, basePath: string): string =>
  basePath !== '' && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;

/** Where a request can be retried: its own address, or the page of its form. */
function retryUrl(ctx: Koa.Context, basePath: string): string | undefined {
  const path = pathBelow(ctx.path, basePath);
  if (isRead(ctx)) {
    const address = createBackTo(`${ctx.origin}${basePath}`)(`${basePath}${path}${ctx.search}`);
    return address.length > MAX_ADDRESS_LENGTH ? undefined : address;
  }
  return OPEN_FORMS.has(path) ? `${basePath}${path}` : undefined;
}

function wayOn(ctx: Koa.Context, status: number, client: Client | undefined, hand: AtHand): Way {
  const { basePath, waysBack } = hand;
  const retry = TEMPORARY.has(status) || !isRead(ctx) ? retryUrl(ctx, basePath) : undefined;
  if (retry !== undefined) return { backUrl: retry, backLabel: { key: 'action.try_again' } };
  return wayBackOrHome(pathBelow(ctx.path, basePath), client, basePath, waysBack);
}

function wayBackOrHome(path: string, client: Client | undefined, basePath: string, waysBack: WaysBack): Way {
  const { clientName = '', continueUrl = '' } = waysBack.toSignIn(client);
  if (safeLink(continueUrl) !== '')
    return { backUrl: continueUrl, backLabel: { key: 'action.back_to', values: { client: clientName } } };
  if (path.startsWith('/account'))
    return { backUrl: `${basePath}/account`, backLabel: { key: 'action.to_account' } };
  const home = path === '/admin' || path.startsWith('/admin/') ? '/admin' : '/';
  return { backUrl: `${basePath}${home}`, backLabel: { key: 'action.home' } };
}

/** Renders our own errors; expired forms and missing cookies have separate pages. */
export function createSendErrorPage(hand: AtHand) {
  const { views, basePath, findClient, waysBack } = hand;

  /** The application named by our form or the address of its page; not verified, so used for links only. */
  async function clientOf(ctx: Koa.Context): Promise<Client | undefined> {
    const clientId: unknown = ctx.state.formClientId;
    // The error page must work while the store is unavailable.
    return typeof clientId === 'string' ? findClient(clientId).catch(() => undefined) : undefined;
  }

  return async (
    ctx: Koa.Context,
    { status, code, message, fields = {}, requestId }: ErrorPage,
  ): Promise<void> => {
    const client = await clientOf(ctx);
    if (code === 'signin.expired') {
      const { clientName, continueUrl } = waysBack.toSignIn(client);
      return views.send(ctx, 'expired', { clientName, restartUrl: continueUrl }, { status });
    }
    if (code === 'request.cookies_off') {
      const path = pathBelow(ctx.path, basePath);
      const retry = retryUrl(ctx, basePath) ?? wayBackOrHome(path, client, basePath, waysBack).backUrl;
      return views.send(ctx, 'cookies-off', { retryUrl: retry }, { status });
    }
    const sent = Object.entries(fields).map(([label, value]) => ({ label, value }));
    const isOfLogout = 'post_logout_redirect_uri' in fields;
    const registry = isOfLogout ? [registerLogoutAt(ctx, basePath)] : [];
    views.send(ctx, 'error', {
      status,
      message: isOfLogout ? { key: 'alert.post_logout_redirect_uri_unregistered' } : message,
      reason: code,
      details: [...sent, ...registry],
      requestId,
      ...(ctx.state.isSignedOut === true && { titleKey: 'signed_out.title' }),
      ...wayOn(ctx, status, client, hand),
    });
  };
}

// An interaction that has ended, or that another browser started: both are "this page has expired" for the user.
const EXPIRED = new Set(['SessionNotFound']);

/** What the library says about a required parameter (lib/helpers/check_presence.js). */
const MISSING = /^missing required parameter\(?s?\)? '(\w+)'/;

interface Explained {
  /** Undefined: what the library says. */
  readonly message?: Text;
  readonly details: readonly { readonly label: Text; readonly value: string; readonly href?: string }[];
}

/** What the developer of the application has to know, and where to go. */
function explained(ctx: KoaContextWithOIDC, error: Error, out: ErrorOut, basePath: string): Explained {
  const { client, params } = ctx.oidc;
  const clientId = { label: { key: 'detail.client_id' }, value: String(params?.client_id ?? '') };
  const redirectUri = { label: { key: 'detail.redirect_uri' }, value: String(params?.redirect_uri ?? '') };
  if (error.name === 'InvalidRedirectUri') {
    const message = { key: 'alert.redirect_uri_unregistered' };
    return {
      message,
      details: [
        redirectUri,
        clientId,
        registerAt(
          ctx,
          basePath,
          client?.clientId,
          redirectUri.value === '' ? undefined : { add_redirect_uri: redirectUri.value },
        ),
      ],
    };
  }
  const checkAt = { ...registerAt(ctx, basePath, client?.clientId), label: { key: 'detail.check_at' } };
  if (error.name === 'InvalidClient') {
    const list = `${ctx.origin}${basePath}/admin/applications`;
    return {
      message: { key: 'alert.unknown_client' },
      details: [clientId, { ...checkAt, value: list, href: list }],
    };
  }
  const [, missing] = MISSING.exec(out.error_description ?? '') ?? [];
  if (missing === undefined) return { details: [] };
  return {
    message: { key: 'alert.parameter_missing', values: { name: missing } },
    details: client === undefined ? [checkAt] : [clientId, checkAt],
  };
}

/** Developers of command line tools meet this: a free port of the loopback interface, registered as a web application. */
function portHint(ctx: KoaContextWithOIDC, error: Error): string | undefined {
  const { client, params } = ctx.oidc;
  const sent = params?.redirect_uri;
  if (error.name !== 'InvalidRedirectUri' || client?.applicationType !== 'web' || typeof sent !== 'string') {
    return undefined;
  }
  return differsInLoopbackPort(sent, client.redirectUris ?? [])
    ? 'redirect_uri differs from a registered one in its port only. Any port is allowed if the application is registered with ' +
        'application_type native (RFC 8252 section 7.3).'
    : undefined;
}

/** Renders protocol errors. Developers see what was sent and where to register it (never by redirect, R005). */
export function createRenderError({ views, basePath, waysBack }: AtHand) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    const requestId = requestIdOf(ctx);
    const { client } = ctx.oidc;
    const { message, details } = explained(ctx, error, out, basePath);
    if (EXPIRED.has(error.name)) {
      const { clientName, continueUrl } = waysBack.toSignIn(client);
      views.send(ctx, 'expired', { clientName, restartUrl: continueUrl }, { status: 400 });
      return;
    }
    views.send(ctx, 'error', {
      status: ctx.status,
      message: portHint(ctx, error) ?? message ?? out.error_description ?? out.error,
      details: [{ label: 'error', value: out.error }, ...details],
      requestId,
      ...wayBackOrHome('', client, basePath, waysBack),
    });
  };
}
