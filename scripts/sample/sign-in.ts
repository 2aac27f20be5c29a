// The protocol, all of it by openid-client: code flow with PKCE, state and nonce, userinfo, refresh, introspection,
// revocation, RP-initiated logout.
import * as client from 'openid-client';
import { type Connection, SCOPE } from './connection.ts';
import { toProblem } from './problem.ts';
import type { Claims } from './token-facts.ts';

/** Stored between the redirect to the provider and the callback. */
export interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Tokens {
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Verified. */
  readonly idClaims: Claims;
  readonly subject: string;
}

export type Prompt = 'login' | 'consent' | 'select_account' | 'none';

export interface SignIn {
  /** @returns the URL to redirect to, and what to store. @throws Problem, as everything below */
  begin(prompt: Prompt | undefined): Promise<{ url: URL; pending: Pending }>;
  /** @param arrived the full callback URL */
  complete(arrived: URL, pending: Pending): Promise<Tokens>;
  refresh(tokens: Tokens): Promise<Tokens>;
  userinfo(tokens: Tokens): Promise<Claims>;
  introspect(token: string): Promise<Claims>;
  revoke(token: string, hint: 'access_token' | 'refresh_token'): Promise<void>;
  /** The URL to sign out at the provider, too. */
  signOutUrl(tokens: Tokens, state: string): Promise<URL>;
}

interface Deps {
  readonly connection: Connection;
  readonly redirectUri: string;
  readonly homeUri: string;
}

type Response = Awaited<ReturnType<typeof client.refreshTokenGrant>>;

export function createSignIn({ connection, redirectUri, homeUri }: Deps): SignIn {
  /** Runs `act` with the connection; every error becomes a Problem. */
  async function attempt<T>(act: (configuration: client.Configuration) => Promise<T>): Promise<T> {
    const configuration = await connection.configuration();
    try {
      return await act(configuration);
    } catch (error) {
      throw toProblem(error, connection.issuer);
    }
  }

  /** A refresh response may omit what has not changed (OIDC Core §12.2). */
  function tokensOf(response: Response, before?: Tokens): Tokens {
    const claims = response.claims() ?? before?.idClaims;
    const idToken = response.id_token ?? before?.idToken;
    if (claims === undefined || idToken === undefined) throw new TypeError('The answer has no ID token.');
    return {
      idToken,
      accessToken: response.access_token,
      refreshToken: response.refresh_token ?? before?.refreshToken,
      idClaims: claims,
      subject: String(claims.sub),
    };
  }

  return {
    begin: (prompt) =>
      attempt(async (configuration) => {
        const verifier = client.randomPKCECodeVerifier();
        const pending = { state: client.randomState(), nonce: client.randomNonce(), verifier };
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: SCOPE,
          state: pending.state,
          nonce: pending.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(prompt === undefined ? {} : { prompt }),
        });
        return { url, pending };
      }),

    complete: (arrived, { state, nonce, verifier }) =>
      attempt(async (configuration) =>
        tokensOf(
          await client.authorizationCodeGrant(configuration, arrived, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          }),
        ),
      ),

    refresh: (tokens) =>
      attempt(async (configuration) => {
        if (tokens.refreshToken === undefined) throw new TypeError('There is no refresh token.');
        return tokensOf(await client.refreshTokenGrant(configuration, tokens.refreshToken), tokens);
      }),

    userinfo: ({ accessToken, subject }) =>
      attempt((configuration) => client.fetchUserInfo(configuration, accessToken, subject)),

    introspect: (token) =>
      attempt(async (configuration) => ({ ...(await client.tokenIntrospection(configuration, token)) })),

    revoke: (token, hint) =>
      attempt((configuration) => client.tokenRevocation(configuration, token, { token_type_hint: hint })),

    signOutUrl: (tokens, state) =>
      attempt(async (configuration) =>
        client.buildEndSessionUrl(configuration, {
          id_token_hint: tokens.idToken,
          post_logout_redirect_uri: homeUri,
          state,
        }),
      ),
  };
}
