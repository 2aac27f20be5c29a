// Signs administrators in to the Admin UI as any application does: by the authorization code flow with PKCE (OIDC Core
// §3.1, RFC 7636). A signed cookie binds state, nonce and verifier to this browser. The code is redeemed in this process
// (src/oidc/redeem-code.ts); at the token endpoint it is refused.
import { createHash, randomBytes } from 'node:crypto';
import type Koa from 'koa';
import { CONSOLE_CLIENT_ID } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import { memberOf } from '../../json.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { type Purpose, stateFor } from '../../oidc/index.ts';
import type { SealedCookie } from './sealed-cookie.ts';

export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path and query of the requested page; signed, and what leads back there is checked (src/http/back-to.ts). */
  readonly returnTo: string;
}

export const isPendingSignIn = (value: unknown): value is PendingSignIn =>
  ['state', 'nonce', 'verifier', 'returnTo'].every((name) => typeof memberOf(value, name) === 'string');

export interface SignInNeeds {
  /** Maximum age of the authentication. */
  readonly maxAgeSeconds: number;
  /** The `acr` it must have; absent: what the settings require. */
  readonly acr?: string | undefined;
  /** Whether the `acr` is mandatory: a user without a second factor adds one. */
  readonly isAcrDemanded?: boolean;
  /** The user must authenticate now, however recent the session is. */
  readonly isFresh?: boolean;
  /** What for, to be named on the page. */
  readonly purpose?: Purpose | undefined;
}

/** As long as a user may take on the sign-in page (setting interaction_seconds). */
const PENDING_SECONDS = 3600;

const random = (): string => randomBytes(32).toString('base64url');

export function createConsoleSignIn(doors: ProtocolDoors, pending: SealedCookie<PendingSignIn>) {
  const { csrf, redeemCode: redeem, baseUrl, basePath, issuer } = doors;
  const redirectUri = `${baseUrl}/admin/callback`;

  return {
    /** Redirects the browser to the sign-in; it returns to `returnTo`. */
    start(
      ctx: Koa.Context,
      returnTo: string,
      { maxAgeSeconds, acr, isAcrDemanded = false, isFresh = false, purpose }: SignInNeeds,
    ): void {
      const state = purpose === undefined ? random() : stateFor(ctx, csrf, purpose);
      const made = { state, nonce: random(), verifier: random(), returnTo };
      pending.write(ctx, made, PENDING_SECONDS);
      const query = new URLSearchParams({
        client_id: CONSOLE_CLIENT_ID,
        response_type: 'code',
        scope: 'openid profile',
        redirect_uri: redirectUri,
        state: made.state,
        nonce: made.nonce,
        code_challenge: createHash('sha256').update(made.verifier).digest('base64url'),
        code_challenge_method: 'S256',
        max_age: String(maxAgeSeconds),
        ...(isFresh && { prompt: 'login' }),
        ...(acr !== undefined && (isAcrDemanded ? demandOf(acr) : { acr_values: acr })),
      });
      ctx.status = 303;
      ctx.redirect(`${basePath}/oauth2/authorize?${query}`);
    },

    /**
     * @returns the user and the requested page; only the page when the user cancelled; or 'unknown' when this browser
     * did not start a sign-in
     * @throws AppError server.error when our own endpoint returns an error
     */
    async finish(
      ctx: Koa.Context,
    ): Promise<'unknown' | { readonly subject?: string; readonly returnTo: string }> {
      const expected = pending.read(ctx);
      pending.clear(ctx);
      const query = new URLSearchParams(ctx.querystring);
      // RFC 9700 §4.7: checked first, also for error responses.
      if (expected === undefined || query.get('state') !== expected.state) return 'unknown';
      if (query.get('error') === 'access_denied') return { returnTo: expected.returnTo };
      const code = query.get('code');
      // RFC 9207 §2.4: a response from another issuer is rejected.
      if (query.get('iss') !== issuer) return 'unknown';
      if (code === null) throw new AppError('server.error');
      const { verifier, returnTo } = expected;
      const { subject, nonce } = await redeem({ clientId: CONSOLE_CLIENT_ID, code, redirectUri, verifier });
      // Not requested again: a lasting cause would create a redirect loop.
      if (nonce !== expected.nonce || subject === undefined) throw new AppError('server.error');
      return { subject, returnTo };
    },
  };
}

/** OIDC Core §5.5.1.1: voluntary `acr_values` force no user to enrol a factor. */
const demandOf = (acr: string) => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, value: acr } } }),
});
