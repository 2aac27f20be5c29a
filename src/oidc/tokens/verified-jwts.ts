// Verifies JWTs that our signing keys signed (RFC 7515 §5.2), each once: what a signature says about a value never changes while
// the keys are the same. It says nothing about the time, nor whether the token is still active; both are asked at every use.
// A rotation or removal of keys makes another verifier (create-provider.ts), whose memory is empty.
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWK, type JWTPayload } from 'jose';

export const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

// The last base64url symbol has unused bits; without this check a token could be altered and still verify.
export const isCanonical = (jwt: string): boolean =>
  jwt.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** What is needed of an access token of ours; the rest is in its record. */
export interface VerifiedJwt {
  readonly typ: 'at+jwt' | 'JWT';
  readonly jti: string;
  readonly sub: string;
  readonly clientId: string;
  /** NumericDate. */
  readonly exp: number;
  readonly nbf: number;
}

/** Of each half, about 300 bytes each: at most some 3 MB for the process. */
const MAX_TOKENS = 5_000;

const ALG = 'RS256';

const rsaKey = (jwk: JWK): KeyObject => createPublicKey({ key: { ...jwk }, format: 'jwk' });

/** RFC 9068 §2.2: an ID token has neither `jti` nor `client_id`. */
function readClaims(claims: JWTPayload): Omit<VerifiedJwt, 'typ'> | undefined {
  const { jti, sub, client_id: clientId, exp, nbf = 0 } = claims;
  const isWhole = typeof jti === 'string' && typeof sub === 'string' && typeof clientId === 'string';
  return isWhole && typeof exp === 'number' && typeof nbf === 'number'
    ? { jti, sub, clientId, exp, nbf }
    : undefined;
}

/**
 * @param issuer issuer identifier; a token of another issuer is not ours even if the key were the same
 * @returns a function from a JWT to what it says; undefined unless one of the keys signed it as an access token
 */
export function createJwtVerifier(
  publicJwks: readonly JWK[],
  issuer: string,
): (jwt: string) => VerifiedJwt | undefined {
  const keys = new Map(
    publicJwks.filter(({ alg = ALG }) => alg === ALG).map((jwk) => [jwk.kid, rsaKey(jwk)] as const),
  );
  let young = new Map<string, VerifiedJwt>();
  let old = new Map<string, VerifiedJwt>();
  /** One request asks about its token several times in a turn of the event loop. */
  let last: { readonly jwt: string; readonly verified: VerifiedJwt | undefined } | undefined;
  const forget = (): void => {
    last = undefined;
  };

  /** RFC 9068 §4, RFC 8725 §3: only our algorithm, types and issuer, and only keys from our own key set. */
  function check(jwt: string): VerifiedJwt | undefined {
    const [head = '', body = '', signature = ''] = jwt.split('.');
    const { alg, typ, kid, crit } = decodeProtectedHeader(jwt);
    const key = typeof kid === 'string' ? keys.get(kid) : undefined;
    if (alg !== ALG || key === undefined || crit !== undefined || (typ !== 'at+jwt' && typ !== 'JWT'))
      return undefined;
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      key,
      Buffer.from(signature, 'base64url'),
    );
    if (!isSigned) return undefined;
    const payload = decodeJwt(jwt);
    const claims = payload.iss === issuer ? readClaims(payload) : undefined;
    return claims && { typ, ...claims };
  }

  function ask(jwt: string): VerifiedJwt | undefined {
    // Not the token itself: whoever reads this process's memory must not find more of them here than in flight.
    const digest = hash('sha256', jwt, 'base64url');
    const known = young.get(digest);
    if (known !== undefined) return known;
    let verified = old.get(digest);
    if (verified === undefined) {
      if (!COMPACT_JWS.test(jwt) || !isCanonical(jwt)) return undefined;
      try {
        verified = check(jwt);
      } catch {
        // Not JSON.
      }
    }
    if (verified === undefined) return undefined;
    if (young.size >= MAX_TOKENS) {
      old = young;
      young = new Map();
    }
    young.set(digest, verified);
    return verified;
  }

  return (jwt) => {
    if (last?.jwt === jwt) return last.verified;
    if (last === undefined) process.nextTick(forget);
    last = { jwt, verified: ask(jwt) };
    return last.verified;
  };
}
