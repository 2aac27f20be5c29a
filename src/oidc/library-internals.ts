// All that we use of oidc-provider's inside, which it does not document: the handlers of its grants, and the context of a request. The
// previews of tokens, the codes that this server redeems itself and the plain answers of client credentials run a grant without the
// library's own way to it: router, client authentication, parameters. test/oidc-library.test.ts fails when another version is installed, until this was compared with it.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { KoaContextWithOIDC } from 'oidc-provider';
import * as grants from 'oidc-provider/lib/actions/grants/index.js';
import requests from 'oidc-provider/lib/helpers/als.js';
import * as grantHelpers from 'oidc-provider/lib/helpers/grants.js';
import type { IdentityProvider } from './identity-provider.ts';

interface Request {
  readonly form: ReadonlyMap<string, string>;
  /** As the library calls it. */
  readonly route: 'token' | 'authorization' | 'device_authorization';
}

/** The context of a request as it is when the client is known. */
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

/** Of a request that nobody sent. */
export function contextFor(
  provider: IdentityProvider,
  route: Route,
  params: Readonly<Record<string, string>>,
): KoaContextWithOIDC {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming, { method: 'POST', url: PATHS[route], complete: true });
  incoming.headers.host = 'localhost';
  const response = new ServerResponse(incoming);
  const ctx = contextOf(provider, { incoming, response }, { form: new Map(Object.entries(params)), route });
  return Object.assign(ctx, { mountPath: '/oauth2' });
}

/** Models and hooks that are called in its course find the context there (`Provider.ctx`). */
export const runIn = <T>(ctx: KoaContextWithOIDC, act: () => Promise<T>): Promise<T> =>
  requests.run(ctx, act);

const bound = new WeakMap<IdentityProvider, object>();

/** As lib/helpers/initialize_app.js has it. */
function helpersFor(provider: IdentityProvider): object {
  const known = bound.get(provider);
  if (known !== undefined) return known;
  const made = Object.fromEntries(
    Object.entries(grantHelpers).map(([name, help]) => [name, help.bind(undefined, provider)]),
  );
  bound.set(provider, made);
  return made;
}

/** What the token endpoint calls when the client is authenticated and the parameters are read (lib/actions/token.js). */
export async function answerGrant(provider: IdentityProvider, ctx: KoaContextWithOIDC): Promise<void> {
  const asked = ctx.oidc.params?.grant_type;
  const grant = Object.values(grants).find(({ grantType }) => grantType === asked);
  if (grant === undefined) throw new TypeError('there is no such grant type');
  await grant.handler(provider, helpersFor(provider), ctx);
}
