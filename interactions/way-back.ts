// Links from a final page back to the application. They use only addresses that the application registered, never one from
// the request (open redirect).
import { type Client, clientRecord } from '../src/oidc/sign-in.ts';
import type { InteractionDoors } from './doors.ts';

export interface WayBack {
  readonly clientName?: string | undefined;
  /** Undefined when the application has no page, as with native ones. */
  readonly continueUrl?: string | undefined;
}

export interface WaysBack {
  /** Starts the sign-in at the application again. */
  toSignIn(client: Client | undefined): WayBack;
  /** The application's page, for a user who has just signed out of it. */
  toApplication(client: Client | undefined): WayBack;
}

export function createWaysBack({ issuer, baseUrl, basePath }: InteractionDoors): WaysBack {
  /** For an application without any other address: the origin of its redirect URI. */
  function originOf({ redirectUris = [] }: Client): string | undefined {
    const [redirectUri = ''] = redirectUris;
    // Our own pages are below BASE_URL, which may have a path.
    if (redirectUri.startsWith(`${baseUrl}/`)) return `${basePath}/`;
    const callback = URL.parse(redirectUri);
    return callback?.protocol.startsWith('http') ? `${callback.origin}/` : undefined;
  }

  /** OpenID Connect Core §4: the application starts the sign-in itself at this issuer. */
  function startOf({ initiateLoginUri }: Client): string | undefined {
    const start = initiateLoginUri === undefined ? null : URL.parse(initiateLoginUri);
    start?.searchParams.set('iss', issuer);
    return start?.href;
  }

  /** No link to where a stranger likes people to go (decision 0026). */
  const isTrusted = (client: Client | undefined): client is Client =>
    client !== undefined && clientRecord(client).quarantine === undefined;

  const nameOf = (client: Client): string => client.clientName ?? client.clientId;

  return {
    toSignIn(client) {
      if (!isTrusted(client)) return {};
      const continueUrl = startOf(client) ?? client.clientUri ?? originOf(client);
      return { clientName: nameOf(client), continueUrl };
    },
    toApplication(client) {
      if (!isTrusted(client)) return {};
      return { clientName: nameOf(client), continueUrl: client.clientUri ?? originOf(client) };
    },
  };
}
