// Where a browser goes to sign in for self-service. The client is src/clients/console-client.ts.
import { randomBytes } from 'node:crypto';
import { CONSOLE_CLIENT_ID } from '../../clients/index.ts';

interface SignIn {
  readonly baseUrl: string;
  readonly basePath: string;
  /** The `state`: which page of self-service it returns to (src/self-service/account-pages.ts). */
  readonly page: string;
  /** The user must authenticate now. */
  readonly isFresh?: boolean;
  /** For a user without an account (Initiating User Registration via OIDC 1.0). */
  readonly isSignUp?: boolean;
  /** The authentication class to ask for. */
  readonly acr?: string | undefined;
}

export function consoleSignInUrl({ baseUrl, basePath, page, isFresh, isSignUp, acr }: SignIn): string {
  const query = new URLSearchParams({
    client_id: CONSOLE_CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${baseUrl}/account/callback`,
    state: page,
    // The code is never redeemed, only the session is wanted: no one keeps the verifier.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    ...(isFresh && { prompt: 'login' }),
    ...(isSignUp && { prompt: 'create' }),
    ...(acr && { acr_values: acr }),
  });
  return `${basePath}/oauth2/authorize?${query}`;
}
