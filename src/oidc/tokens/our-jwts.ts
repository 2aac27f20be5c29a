// Reads JWTs that say they are access tokens of ours (RFC 9068 §2). What proves one is the digest of its value, in its record
// (models/jwt-format.ts): equal, and it is, byte for byte, what was signed. A signature costs ten times as much, and is verified
// where there is no record: RFC 7515 §5.2.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { decodeJwt, type JWK } from 'jose';

export const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

// The last base64url symbol has unused bits; without this check a token could be altered and still verify.
export const isCanonical = (jwt: string): boolean =>
  jwt.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

export type AccessTokenType = 'at+jwt' | 'JWT';
const TYPES: readonly AccessTokenType[] = ['at+jwt', 'JWT'];

/** What is needed of an access token of ours; the rest is in its record. */
export interface ReadJwt {
  readonly typ: AccessTokenType;
  readonly jti: string;
  readonly sub: string;
  readonly clientId: string;
  /** NumericDate. */
  readonly exp: number;
  readonly nbf: number;
}

export interface OurJwts {
  /** @returns what it says; undefined unless it is one by its form, a key of ours that still counts, and its issuer */
  read(jwt: string): ReadJwt | undefined;
  /** Whether the key that it names signed it. */
  isSigned(jwt: string): boolean;
}

const ALG = 'RS256';

/** RFC 9068 §2.1. All tokens of a key and a type share it, byte for byte. */
export const headOf = (kid: string | undefined, typ: AccessTokenType): string =>
  Buffer.from(JSON.stringify({ alg: ALG, typ, kid })).toString('base64url');

/**
 * RFC 9068 §4, RFC 8725 §3: only our algorithm, types and issuer, and only keys from our own key set. A rotation or removal of keys
 * makes another reader (create-provider.ts).
 * @param issuer issuer identifier; a token of another issuer is not ours even if the key were the same
 */
export function createOurJwts(publicJwks: readonly JWK[], issuer: string): OurJwts {
  const heads = new Map<string, { readonly typ: AccessTokenType; readonly key: KeyObject }>();
  for (const jwk of publicJwks) {
    const { alg = ALG, kid } = jwk;
    if (alg !== ALG || kid === undefined) continue;
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    for (const typ of TYPES) heads.set(headOf(kid, typ), { typ, key });
  }
  const headIn = (jwt: string) => heads.get(jwt.slice(0, jwt.indexOf('.')));

  function parse(jwt: string): ReadJwt | undefined {
    const typ = headIn(jwt)?.typ;
    if (typ === undefined || !COMPACT_JWS.test(jwt)) return undefined;
    try {
      const { iss, jti, sub, client_id: clientId, exp, nbf = 0 } = decodeJwt(jwt);
      // RFC 9068 §2.2: an ID token has neither `jti` nor `client_id`.
      const isWhole = typeof jti === 'string' && typeof sub === 'string' && typeof clientId === 'string';
      return iss === issuer && isWhole && typeof exp === 'number' && typeof nbf === 'number'
        ? { typ, jti, sub, clientId, exp, nbf }
        : undefined;
    } catch {
      // Not JSON.
      return undefined;
    }
  }

  /** One request asks about its token several times in a turn of the event loop. */
  let last: { readonly jwt: string; readonly said: ReadJwt | undefined } | undefined;
  const forget = (): void => {
    last = undefined;
  };

  return {
    read(jwt) {
      if (last?.jwt === jwt) return last.said;
      if (last === undefined) process.nextTick(forget);
      last = { jwt, said: parse(jwt) };
      return last.said;
    },

    isSigned(jwt) {
      const key = headIn(jwt)?.key;
      if (key === undefined || !isCanonical(jwt)) return false;
      const at = jwt.lastIndexOf('.');
      return verify(
        'sha256',
        Buffer.from(jwt.slice(0, at)),
        key,
        Buffer.from(jwt.slice(at + 1), 'base64url'),
      );
    },
  };
}
