// Owns how errors look to a person: our own, and those of the protocol that must not be redirected anywhere.

import type Koa from 'koa';
import type { ErrorPage } from '../src/http/boundary.ts';
import { requestIdOf } from '../src/http/request-log.ts';
import type { Views } from '../src/http/views.ts';
import type { Client, ErrorOut, KoaContextWithOIDC } from '../src/oidc/library-types.ts';

interface Deps {
  readonly views: Views;
  /** BASE_URL's path: where the administrator's pages are. */
  readonly basePath: string;
}

interface SendDeps extends Deps {
  readonly findClient: FindClient;
}

const registerAt = (ctx: Koa.Context | KoaContextWithOIDC, basePath: string) => ({
  label: { key: 'detail.register_at' },
  value: `${ctx.origin}${basePath}/admin`,
});

/** Our own error as a page; an expired form and missing cookies have pages of their own. */
export function createSendErrorPage({ views, basePath, findClient }: SendDeps) {
  return async (
    ctx: Koa.Context,
    { status, code, message, fields = {}, requestId }: ErrorPage,
  ): Promise<void> => {
    if (code === 'signin.expired') {
      const clientId: unknown = ctx.state.formClientId;
      const client = typeof clientId === 'string' ? await findClient(clientId) : undefined;
      views.send(ctx, 'expired', wayBack(client), { status });
    } else if (code === 'request.cookies_off') views.send(ctx, 'cookies-off', {}, { status });
    else {
      const sent = Object.entries(fields).map(([label, value]) => ({ label, value }));
      const registry = 'post_logout_redirect_uri' in fields ? [registerAt(ctx, basePath)] : [];
      views.send(ctx, 'error', { status, message, reason: code, details: [...sent, ...registry], requestId });
    }
  };
}

type FindClient = (clientId: string) => Promise<Client | undefined>;

/** Where the sign-in can be started again: only addresses that the application registered. */
function wayBack(client: Client | undefined): {
  clientName?: string | undefined;
  restartUrl?: string | undefined;
} {
  if (client === undefined) return {};
  const [redirectUri = ''] = client.redirectUris ?? [];
  const callback = URL.parse(redirectUri);
  const origin = callback?.protocol.startsWith('http') ? `${callback.origin}/` : undefined;
  const restartUrl = client.initiateLoginUri ?? client.clientUri ?? origin;
  return { clientName: client.clientName ?? client.clientId, restartUrl };
}

// An interaction that has ended, or that another browser started: for a person both are "this page has expired".
const EXPIRED = new Set(['SessionNotFound']);

function redirectDetails(ctx: KoaContextWithOIDC, error: Error, basePath: string) {
  const { client, params } = ctx.oidc;
  if (error.name !== 'InvalidRedirectUri') return [];
  return [
    { label: 'redirect_uri', value: String(params?.redirect_uri ?? '') },
    { label: 'client_id', value: client?.clientId ?? '' },
    registerAt(ctx, basePath),
  ];
}

/** An error of the protocol. The developer sees what was sent and where it is registered (never by redirect, R005). */
export function createRenderError({ views, basePath }: Deps) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    const requestId = requestIdOf(ctx);
    if (EXPIRED.has(error.name)) {
      views.send(ctx, 'expired', wayBack(ctx.oidc.client), { status: 400 });
      return;
    }
    views.send(ctx, 'error', {
      status: ctx.status,
      message: out.error_description ?? out.error,
      details: [{ label: 'error', value: out.error }, ...redirectDetails(ctx, error, basePath)],
      requestId,
    });
  };
}
