// Owns where a browser goes to sign in for people's own pages, and where it comes back to. The application is the one of
// all our own pages, which src/app/create-app.ts makes at first start.
import { randomBytes } from 'node:crypto';

const CLIENT_ID = 'latchkey-admin';

/** By the word that the sign-in carries along as `state`: nothing else is ever gone back to. */
export const ownPages = {
  home: '/account',
  password: '/account/password',
  passkeys: '/account/passkeys',
  'second-factor': '/account/second-factor',
} as const;

export type OwnPage = keyof typeof ownPages;

interface SignIn {
  readonly baseUrl: string;
  readonly basePath: string;
  readonly page: OwnPage;
  /** The person must prove who they are now. */
  readonly isFresh?: boolean;
  /** For someone without an account (Initiating User Registration via OIDC 1.0). */
  readonly isSignUp?: boolean;
  /** How strongly. */
  readonly acr?: string | undefined;
}

export function consoleSignInUrl({ baseUrl, basePath, page, isFresh, isSignUp, acr }: SignIn): string {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${baseUrl}/account/callback`,
    state: page,
    // The code is not redeemed: coming back signed in is all that is wanted. So nobody knows the verifier.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    ...(isFresh && { prompt: 'login' }),
    ...(isSignUp && { prompt: 'create' }),
    ...(acr && { acr_values: acr }),
  });
  return `${basePath}/oauth2/authorize?${query}`;
}

/** @param state of the address that the sign-in came back to */
export const pathOf = (state: unknown): string =>
  Object.entries(ownPages).find(([page]) => page === state)?.[1] ?? ownPages.home;
