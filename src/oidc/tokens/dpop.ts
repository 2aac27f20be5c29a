// Proofs of possession (DPoP, RFC 9449). The library checks them at its own endpoints (lib/helpers/validate_dpop.js); here are the
// same rules for what it does not serve: the APIs of this server and the password grant.
import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose';
import type Koa from 'koa';
import { errors } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import { derivedKey } from '../../config/secret-key.ts';
import { AppError } from '../../errors.ts';
import { createDpopNonces, type DpopNonces } from './dpop-nonces.ts';

/** Of proofs (`dpop_signing_alg_values_supported`): asymmetric only (§4.2). */
export const DPOP_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const;

/** As the library has it: how old or young a proof may be. */
const WINDOW_SECONDS = 300;

/** Nonces are derived from it and the time, so that every process gives and accepts the same ones (§8). */
export const dpopNonceSecret = ([newest = '']: readonly string[]): Buffer =>
  Buffer.from(derivedKey(newest, 'dpop-nonce'), 'base64url');

/** The Authorization header of an API of ours. */
export interface PresentedToken {
  readonly scheme: 'bearer' | 'dpop';
  readonly value: string;
}

/** @throws AppError auth.required, auth.invalid_token */
export function presentedToken(authorization: string): PresentedToken {
  const [scheme = '', value = '', ...rest] = authorization.split(' ');
  const name = scheme.toLowerCase();
  if (name !== 'bearer' && name !== 'dpop') throw new AppError('auth.required');
  if (value === '' || rest.length > 0) throw new AppError('auth.invalid_token');
  return { scheme: name, value };
}

export interface DpopProof {
  /** RFC 7638, of the key that signed it. */
  readonly thumbprint: string;
  readonly jti: string;
}

/** What of a token says to which key it is bound. */
interface BoundToken {
  readonly jkt?: string | undefined;
  readonly clientId?: string | undefined;
}

export interface DpopProofs {
  /**
   * The token of a request to an API of ours: a bound one comes with a proof by its key, any other without (§7.1, §7.2).
   * @throws AppError auth.invalid_token, auth.use_dpop_nonce
   */
  checkBinding(ctx: Koa.Context, presented: PresentedToken, token: BoundToken): Promise<void>;
  /** The proof of a token request, which is yet to be used; undefined: there is none. @throws InvalidDpopProof, UseDpopNonce */
  readProof(ctx: Koa.Context): Promise<DpopProof | undefined>;
  /** @throws InvalidGrant it was used before */
  useProof(proof: DpopProof, clientId: string): Promise<void>;
}

interface Deps {
  readonly models: () => {
    readonly ReplayDetection: { unique(iss: string, jti: string, exp: number): Promise<boolean> };
  };
  readonly clock: Clock;
  readonly secretKeys: readonly string[];
}

/** @returns the public address that was called, as a proof names it (§4.2 `htu`): without query and fragment */
export function calledAddress(ctx: Koa.Context): string {
  const url = new URL(ctx.href);
  return url.origin + url.pathname;
}

/** §4.3: query and fragment are ignored, nothing else is: who else is named before the host was not called. */
function addressOf(htu: unknown): string | undefined {
  const url = typeof htu === 'string' ? URL.parse(htu) : null;
  return url === null || url.username !== '' || url.password !== '' ? undefined : url.origin + url.pathname;
}

type ProofClaims = JWTPayload & {
  readonly htm?: unknown;
  readonly htu?: unknown;
  readonly ath?: unknown;
  readonly nonce?: unknown;
};

/** §4.3, but for the nonce. @returns what is wrong */
function problemOf(
  { iat, jti, htm, htu, ath, nonce }: ProofClaims,
  ctx: Koa.Context,
  now: number,
  token: string | undefined,
): string | undefined {
  if (typeof jti !== 'string' || jti === '') return 'it has no jti';
  if (typeof iat !== 'number') return 'it has no iat';
  // With a nonce the clock of the client does not matter (§8).
  if (nonce === undefined && Math.abs(now - iat) > WINDOW_SECONDS) return 'its iat is not recent enough';
  if (htm !== ctx.method) return `its htm is not ${ctx.method}`;
  if (addressOf(htu) !== calledAddress(ctx)) return `its htu is not ${calledAddress(ctx)}`;
  if (token !== undefined && ath !== createHash('sha256').update(token).digest('base64url'))
    return 'its ath is not of this access token';
  return undefined;
}

/** §8: this one is given with every answer to a proof that has another. @returns whether the proof may go on */
function exchangeNonce(ctx: Koa.Context, nonces: DpopNonces, { nonce }: ProofClaims): boolean {
  const next = nonces.next();
  if (nonce !== next) ctx.set('DPoP-Nonce', next);
  return nonce === undefined || (typeof nonce === 'string' && nonces.isGood(nonce));
}

/** A proof whose nonce is not known: the client is to send another with the one that it got. */
const RETRY = Symbol('retry');
const isAskedAgain = (proof: unknown): proof is typeof RETRY => proof === RETRY;

export function createDpopProofs({ models, clock, secretKeys }: Deps): DpopProofs {
  const nonces = createDpopNonces(dpopNonceSecret(secretKeys), clock);

  /** @returns the proof, or what is wrong with it */
  async function read(ctx: Koa.Context, token?: string): Promise<DpopProof | string | typeof RETRY> {
    try {
      const { payload, protectedHeader } = await jwtVerify(ctx.get('DPoP'), EmbeddedJWK, {
        algorithms: [...DPOP_ALGORITHMS],
        typ: 'dpop+jwt',
      });
      const problem = problemOf(payload, ctx, epochSeconds(clock), token);
      if (problem !== undefined) return problem;
      if (!exchangeNonce(ctx, nonces, payload)) return RETRY;
      const { jwk = {} } = protectedHeader;
      return { thumbprint: await calculateJwkThumbprint(jwk), jti: payload.jti ?? '' };
    } catch {
      return 'it is no JWT of type dpop+jwt that is signed by the public key in its header';
    }
  }

  /** §11.1: one use, over all processes. */
  async function isFirstUse({ jti }: DpopProof, clientId: string): Promise<boolean> {
    try {
      return await models().ReplayDetection.unique(clientId, jti, epochSeconds(clock) + WINDOW_SECONDS);
    } catch (error) {
      // Two at once: the store keeps the first (adapters/oidc.ts).
      if (error instanceof errors.InvalidRequest) return false;
      throw error;
    }
  }

  return {
    async checkBinding(ctx, { scheme, value }, { jkt, clientId = '' }) {
      if (jkt === undefined) {
        if (scheme === 'bearer') return;
        throw invalid('This token is not bound to a key. Send it with the scheme Bearer.');
      }
      if (scheme === 'bearer')
        throw invalid('This token is bound to a key. Send it with the scheme DPoP and a proof (RFC 9449).');
      const proof = await read(ctx, value);
      if (isAskedAgain(proof)) throw new AppError('auth.use_dpop_nonce');
      if (typeof proof === 'string') throw invalid(`The DPoP proof is not valid: ${proof}.`);
      if (proof.thumbprint !== jkt)
        throw invalid('The DPoP proof is by another key than the one of this token.');
      if (!(await isFirstUse(proof, clientId))) throw invalid('The DPoP proof was used before.');
    },

    async readProof(ctx) {
      if (ctx.get('DPoP') === '') return undefined;
      const proof = await read(ctx);
      if (isAskedAgain(proof)) throw new errors.UseDpopNonce('invalid nonce in DPoP proof');
      if (typeof proof === 'string') throw new errors.InvalidDpopProof(proof);
      return proof;
    },

    async useProof(proof, clientId) {
      if (!(await isFirstUse(proof, clientId)))
        throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
    },
  };
}

const invalid = (message: string): AppError => new AppError('auth.invalid_token', { message });
