// Owns where a page that ends something leads next: back to the application whose sign-in it was, by addresses that the
// application registered and nothing else. An address from the request never becomes a link.
import type { Client } from '../src/oidc/library-types.ts';

export interface WayBack {
  readonly clientName?: string | undefined;
  /** None: the application has no page, as native ones have none. */
  readonly continueUrl?: string | undefined;
}

export interface WaysBack {
  /** Starts the sign-in at the application again. */
  toSignIn(client: Client | undefined): WayBack;
  /** The application's own page, for someone who has just signed out of it. */
  toApplication(client: Client | undefined): WayBack;
}

interface Deps {
  readonly issuer: string;
  readonly baseUrl: string;
  /** BASE_URL's path. */
  readonly basePath: string;
}

export function createWaysBack({ issuer, baseUrl, basePath }: Deps): WaysBack {
  /** Where an application without any other address is: the origin that its sign-ins return to. */
  function originOf({ redirectUris = [] }: Client): string | undefined {
    const [redirectUri = ''] = redirectUris;
    // Our own pages: they lie below BASE_URL, which may have a path.
    if (redirectUri.startsWith(`${baseUrl}/`)) return `${basePath}/`;
    const callback = URL.parse(redirectUri);
    return callback?.protocol.startsWith('http') ? `${callback.origin}/` : undefined;
  }

  /** OpenID Connect Core §4: the application starts the sign-in itself, and learns at whom. */
  function startOf({ initiateLoginUri }: Client): string | undefined {
    const start = initiateLoginUri === undefined ? null : URL.parse(initiateLoginUri);
    start?.searchParams.set('iss', issuer);
    return start?.href;
  }

  const nameOf = (client: Client): string => client.clientName ?? client.clientId;

  return {
    toSignIn(client) {
      if (client === undefined) return {};
      const continueUrl = startOf(client) ?? client.clientUri ?? originOf(client);
      return { clientName: nameOf(client), continueUrl };
    },
    toApplication(client) {
      if (client === undefined) return {};
      return { clientName: nameOf(client), continueUrl: client.clientUri ?? originOf(client) };
    },
  };
}
