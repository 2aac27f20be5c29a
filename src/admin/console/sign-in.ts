// How the administrator's pages sign somebody in: as any application does, by the authorization code flow with PKCE
// (OIDC Core §3.1, RFC 7636), its state, nonce and verifier bound to this browser by a sealed cookie. The code is redeemed
// at the public token endpoint, without a network.
import { createHash, randomBytes } from 'node:crypto';
import type Koa from 'koa';
import { CONSOLE_CLIENT_ID } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import type { InjectRequest } from '../../http/inject-request.ts';
import type { SealedCookie } from './sealed-cookie.ts';

export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path and query of the page that was asked for; sealed, so it is ours. */
  readonly returnTo: string;
}

export const isPendingSignIn = (value: unknown): value is PendingSignIn =>
  typeof value === 'object' &&
  value !== null &&
  ['state', 'nonce', 'verifier', 'returnTo'].every((name) => typeof Reflect.get(value, name) === 'string');

export interface SignInNeeds {
  /** The oldest authentication that will do. */
  readonly maxAgeSeconds: number;
  /** Which `acr` it must have; none: whatever the settings ask for. */
  readonly acr?: string | undefined;
  /** Whether nothing less will do: a factor is added where there is none. */
  readonly isAcrDemanded?: boolean;
  /** The person must authenticate now, however young the session is. */
  readonly isFresh?: boolean;
}

interface Deps {
  readonly pending: SealedCookie<PendingSignIn>;
  readonly ask: InjectRequest;
  readonly baseUrl: string;
  readonly basePath: string;
  readonly issuer: string;
}

/** As long as a person may take for the sign-in page (setting interaction_seconds). */
const PENDING_SECONDS = 3600;

const random = (): string => randomBytes(32).toString('base64url');

export function createConsoleSignIn({ pending, ask, baseUrl, basePath, issuer }: Deps) {
  const redirectUri = `${baseUrl}/admin/callback`;

  async function redeem(ctx: Koa.Context, code: string, verifier: string): Promise<unknown> {
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: CONSOLE_CLIENT_ID,
      code_verifier: verifier,
    };
    const { status, body } = await ask(`${basePath}/oauth2/token`, fields, ctx.req);
    return status === 200 ? JSON.parse(body) : undefined;
  }

  return {
    /** Sends the browser to the sign-in; it comes back to `returnTo`. */
    start(
      ctx: Koa.Context,
      returnTo: string,
      { maxAgeSeconds, acr, isAcrDemanded = false, isFresh = false }: SignInNeeds,
    ): void {
      const made = { state: random(), nonce: random(), verifier: random(), returnTo };
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
     * @returns who signed in and where they wanted to go; only where, when they went back; or 'unknown' when this browser
     * has not asked for it
     * @throws AppError server.error when our own endpoint refuses us
     */
    async finish(
      ctx: Koa.Context,
    ): Promise<'unknown' | { readonly subject?: string; readonly returnTo: string }> {
      const expected = pending.read(ctx);
      pending.clear(ctx);
      const query = new URLSearchParams(ctx.querystring);
      // RFC 9700 §4.7: before anything else, error answers included.
      if (expected === undefined || query.get('state') !== expected.state) return 'unknown';
      if (query.get('error') === 'access_denied') return { returnTo: expected.returnTo };
      const code = query.get('code');
      // RFC 9207 §2.4: an answer of another provider is none.
      if (query.get('iss') !== issuer) return 'unknown';
      if (code === null) throw new AppError('server.error');
      const tokens = await redeem(ctx, code, expected.verifier);
      // Not asked for once more: what lasts would go round for ever.
      if (tokens === undefined) throw new AppError('server.error');
      const { sub, nonce } = claimsOf(tokens);
      if (nonce !== expected.nonce || typeof sub !== 'string') throw new AppError('server.error');
      return { subject: sub, returnTo: expected.returnTo };
    },
  };
}

/** OIDC Core §5.5.1.1; nobody is made to enrol for `acr_values`. */
const demandOf = (acr: string) => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, value: acr } } }),
});

/** It comes from our own endpoint, by no network: OIDC Core §3.1.3.7 asks for no check of the signature then. */
function claimsOf(tokens: unknown): { readonly sub?: unknown; readonly nonce?: unknown } {
  const idToken = typeof tokens === 'object' && tokens !== null ? Reflect.get(tokens, 'id_token') : undefined;
  const [, payload = ''] = String(idToken).split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return typeof claims === 'object' && claims !== null ? claims : {};
}
