// Owns how errors look to a person: our own, and those of the protocol that must not be redirected anywhere.

import type Koa from 'koa';
import type { Client, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import type { ErrorPage } from '../src/http/boundary.ts';
import { requestIdOf } from '../src/http/request-log.ts';
import type { Views } from '../src/http/views.ts';

interface Deps {
  readonly views: Views;
}

/** Our own error as a page; an expired form and missing cookies have pages of their own. */
export function createSendErrorPage({ views }: Deps) {
  return (ctx: Koa.Context, { status, code, message, requestId }: ErrorPage): void => {
    if (code === 'signin.expired') views.send(ctx, 'expired', {}, { status });
    else if (code === 'request.cookies_off') views.send(ctx, 'cookies-off', {}, { status });
    else views.send(ctx, 'error', { status, message, reason: code, requestId });
  };
}

// An interaction that has ended, or that another browser started: for a person both are "this page has expired".
const EXPIRED = new Set(['SessionNotFound']);

/** An error of the protocol. The developer sees what was sent and where it is registered (never by redirect, R005). */
export function createRenderError({ views }: Deps) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    const requestId = requestIdOf(ctx);
    if (EXPIRED.has(error.name)) {
      const { client } = ctx.oidc;
      const restartUrl = client && (client.initiateLoginUri ?? client.clientUri);
      views.send(ctx, 'expired', { clientName: client?.clientName, restartUrl }, { status: 400 });
      return;
    }
    views.send(ctx, 'error', {
      status: ctx.status,
      message: out.error_description ?? out.error,
      details: [{ label: 'error', value: out.error }, ...redirectDetails(ctx, error, ctx.oidc.client)],
      requestId,
    });
  };
}

function redirectDetails(ctx: KoaContextWithOIDC, error: Error, client: Client | undefined) {
  if (error.name !== 'InvalidRedirectUri') return [];
  const { redirect_uri: sent } = ctx.oidc.params ?? {};
  return [
    { label: 'redirect_uri', value: String(sent ?? '') },
    { label: 'client_id', value: client?.clientId ?? '' },
    { label: { key: 'error.register_at' }, value: `${ctx.origin}/admin` },
  ];
}
