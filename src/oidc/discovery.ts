// The discovery document (OIDC Discovery §3): the library's own, corrected where an endpoint is ours. It is read once, by a
// request injected into the provider within this process.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type Koa from 'koa';
import type { IdentityProvider } from './identity-provider.ts';
import { ADMIN_SCOPES } from './scopes.ts';

interface Deps {
  readonly provider: IdentityProvider;
  /** The provider as it is mounted. */
  readonly mounted: Koa.Middleware;
  readonly baseUrl: string;
}

/** Grant types that an administrator can allow an application, but that are not advertised (RFC 9700 §2.4). */
const UNADVERTISED_GRANTS = new Set(['password', 'implicit']);

const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export async function createDiscovery({ provider, mounted, baseUrl }: Deps): Promise<object> {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.url = '/oauth2/.well-known/openid-configuration';
  const ctx = provider.createContext(request, new ServerResponse(request));
  await mounted(ctx, async () => {});
  const libraryDocument = ctx.body as Readonly<Record<string, unknown>>;
  const listed = (name: string): unknown[] => {
    const list = libraryDocument[name];
    return Array.isArray(list) ? list : [];
  };

  const document: Record<string, unknown> = {
    ...libraryDocument,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    registration_endpoint: `${baseUrl}/oauth2/register`,
    grant_types_supported: listed('grant_types_supported').filter(
      (grant) => !UNADVERTISED_GRANTS.has(String(grant)),
    ),
    // The admin scopes are not advertised (decisions §5).
    scopes_supported: listed('scopes_supported').filter((scope) => !ADMIN_SCOPES.has(String(scope))),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: ['none', ...CLIENT_AUTH_METHODS],
  };
  return document;
}
