// Owns the content of the discovery document (OIDC Discovery §3): what the library says of itself, corrected where an
// endpoint is ours. The library is asked once, by a request that never leaves this process.
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

/** Grants that exist for applications an administrator allowed them, but that nobody is invited to (RFC 9700 §2.4). */
const UNADVERTISED_GRANTS = new Set(['password', 'implicit']);

const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export async function createDiscovery({ provider, mounted, baseUrl }: Deps): Promise<object> {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.url = '/oauth2/.well-known/openid-configuration';
  const ctx = provider.createContext(request, new ServerResponse(request));
  await mounted(ctx, async () => {});
  const said = ctx.body as Readonly<Record<string, unknown>>;
  const listed = (name: string): unknown[] => {
    const list = said[name];
    return Array.isArray(list) ? list : [];
  };

  const document: Record<string, unknown> = {
    ...said,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    registration_endpoint: `${baseUrl}/oauth2/register`,
    grant_types_supported: listed('grant_types_supported').filter(
      (grant) => !UNADVERTISED_GRANTS.has(String(grant)),
    ),
    // Scopes for administrators' own programs are announced to nobody (decisions §5).
    scopes_supported: listed('scopes_supported').filter((scope) => !ADMIN_SCOPES.has(String(scope))),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: ['none', ...CLIENT_AUTH_METHODS],
  };
  return document;
}
