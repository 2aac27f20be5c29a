// The discovery document (OIDC Discovery §3): the library's own, corrected where an endpoint is ours. It is read once, by a
// request injected into the provider within this process.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type Koa from 'koa';
import { adminGrantTypes, legacyGrantTypes } from '../model/grant-types.ts';
import { ACCOUNT_SCOPES, ADMIN_SCOPES } from './entitlements/scopes.ts';
import { type IssuerAddress, issuerPath } from './foreign-layout/aliases.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { PROMPTS } from './requests/settle-values.ts';
import { unsignedDiscovery } from './signed-responses.ts';

interface Deps extends IssuerAddress {
  readonly provider: IdentityProvider;
  /** The provider as it is mounted. */
  readonly mounted: Koa.Middleware;
  /** What the legacy profile adds; absent: it is off. */
  readonly legacy?: Readonly<Record<string, unknown>>;
}

/** What of the document depends on the stored applications. */
export interface InUse {
  /** An application may use the password grant; it is not advertised otherwise (RFC 9700 §2.4). */
  readonly passwordGrant: boolean;
  /** An application may ask for signed authorization responses; to all others they are unknown. */
  readonly signedResponses: boolean;
  /** An application may ask for scopes of the account API. */
  readonly accountScopes: boolean;
  /** Somebody has a token by which clients register. */
  readonly initialAccess: boolean;
  /** Anyone may register a client. */
  readonly agents: boolean;
}

export type Discovery = (inUse: InUse) => object;

const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

/** What an ordinary application may use (decisions 0001 and 0026). */
export async function createDiscovery(deps: Deps): Promise<Discovery> {
  const { provider, mounted, baseUrl, issuer, legacy } = deps;
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

  // Strict clients refuse keys from outside of the issuer.
  const keysAt = issuerPath(deps) === undefined ? baseUrl : issuer.replace(/\/$/, '');
  return ({ passwordGrant, agents, signedResponses, accountScopes, initialAccess }) => ({
    ...libraryDocument,
    ...(!signedResponses && unsignedDiscovery(listed('response_modes_supported'))),
    ...((agents || initialAccess) && { registration_endpoint: `${baseUrl}/oauth2/register` }),
    ...(agents && { client_id_metadata_document_supported: true }),
    ...legacy,
    jwks_uri: `${keysAt}/.well-known/jwks.json`,
    grant_types_supported: listed('grant_types_supported')
      .filter((grant) => legacy !== undefined || !legacyGrantTypes.includes(String(grant)))
      .filter((grant) => passwordGrant || !adminGrantTypes.includes(String(grant))),
    // The admin scopes are not advertised (decision 0009).
    scopes_supported: listed('scopes_supported')
      .filter((scope) => !ADMIN_SCOPES.has(String(scope)))
      .filter((scope) => accountScopes || !ACCOUNT_SCOPES.has(String(scope))),
    prompt_values_supported: PROMPTS,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: ['none', ...CLIENT_AUTH_METHODS],
  });
}
