// The library's context of a request that does not come by the library's own way: as it is when the client is known.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { IdentityProvider } from './identity-provider.ts';

interface Request {
  readonly form: ReadonlyMap<string, string>;
  /** As the library calls it. */
  readonly route: 'token' | 'authorization' | 'device_authorization';
}

export function contextOf(
  provider: IdentityProvider,
  { incoming, response }: { readonly incoming: IncomingMessage; readonly response: ServerResponse },
  { form, route }: Request,
): KoaContextWithOIDC {
  const koa = provider.createContext(incoming, response);
  // Set by the library's router, and the body by Koa with headers that a request which goes on must not have.
  Object.assign(koa, { _matchedRouteName: route });
  Object.defineProperty(koa, 'body', { value: undefined, writable: true });
  const ctx: KoaContextWithOIDC = Object.assign(koa, { oidc: koa.oidc });
  const said = Object.fromEntries(form);
  const oidc = new provider.OIDCContext(ctx);
  Object.assign(ctx, { oidc: Object.assign(oidc, { params: { ...said }, body: said }) });
  return ctx;
}

type Route = Request['route'];

const PATHS: Readonly<Record<Route, string>> = {
  authorization: '/oauth2/authorize',
  device_authorization: '/oauth2/device_authorization',
  token: '/oauth2/token',
};

/** A request that nobody sent. */
function requestOf(path: string, headers: Readonly<Record<string, string>> = {}) {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming, { method: 'POST', url: path, complete: true });
  Object.assign(incoming.headers, { host: 'localhost', ...headers });
  return { incoming, response: new ServerResponse(incoming) };
}

export function contextFor(
  provider: IdentityProvider,
  route: Route,
  params: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
): KoaContextWithOIDC {
  const made = requestOf(PATHS[route], headers);
  const ctx = contextOf(provider, made, { form: new Map(Object.entries(params)), route });
  return Object.assign(ctx, { mountPath: '/oauth2' });
}
