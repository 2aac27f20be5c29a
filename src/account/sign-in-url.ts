// Owns where a browser goes to sign in for people's own pages. The application is the one of all our own pages, which
// app.ts makes at first start.
import { randomBytes } from 'node:crypto';

const CLIENT_ID = 'latchkey-admin';

interface SignIn {
  readonly baseUrl: string;
  readonly basePath: string;
  /** The person must prove who they are now. */
  readonly isFresh?: boolean;
  /** How strongly. */
  readonly acr?: string | undefined;
}

export function consoleSignInUrl({ baseUrl, basePath, isFresh, acr }: SignIn): string {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${baseUrl}/account/callback`,
    // The code is not redeemed: coming back signed in is all that is wanted. So nobody knows the verifier.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    ...(isFresh && { prompt: 'login' }),
    ...(acr && { acr_values: acr }),
  });
  return `${basePath}/oauth2/authorize?${query}`;
}
