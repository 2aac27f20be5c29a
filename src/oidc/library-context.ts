// The library's context of a request that does not come by the library's own way: as it is when the client is known.
import type { IncomingMessage, ServerResponse } from 'node:http';
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
