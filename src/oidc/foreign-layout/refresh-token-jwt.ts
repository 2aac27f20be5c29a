// Refresh tokens as JWTs, for applications that read them (`keycloak_tokens`, decision 0026). The JWT is only the form in which
// the token travels: it is looked up by its `jti` and rotated as any other (models/refresh-token.ts). It is signed with a
// secret that is in no JWKS, so that nobody who verifies tokens of ours takes it for one that gives access.
import { createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { derivedKey } from '../../config/secret-key.ts';
import { REFRESH_TYP, unwrap } from '../tokens/access-token-jwt.ts';
import { COMPACT_JWS, isCanonical } from '../tokens/our-jwts.ts';

export interface RefreshTokenClaims {
  readonly jti: string;
  /** The client. */
  readonly azp: string;
  readonly sid: string | undefined;
  readonly iat: number;
  readonly exp: number;
}

export interface RefreshTokenJwt {
  sign(claims: RefreshTokenClaims): Promise<string>;
  /** Whether it has the form of a JWT; an opaque token never has. */
  isJwt(value: string): boolean;
  /** @returns the `jti` of one that we signed, else undefined; whether it has expired, its record says */
  resolve(value: string): Promise<string | undefined>;
}

const ALG = 'HS256';
/** RFC 8725 §3.11. */
const TYPE = 'refresh+jwt';

/** Longer than any refresh token lives. */
const LONGEST_SECONDS = 631_139_040;

interface Key {
  readonly kid: string;
  readonly secret: KeyObject;
}

const keyOf = (secretKey: string): Key => ({
  kid: derivedKey(secretKey, 'refresh-token-jwt-id').slice(0, 11),
  secret: createSecretKey(derivedKey(secretKey, 'refresh-token-jwt'), 'base64url'),
});

/** @param secretKeys SECRET_KEY: the newest signs, all that are listed verify */
export function createRefreshTokenJwt(secretKeys: readonly string[], issuer: string): RefreshTokenJwt {
  const [current, ...former] = secretKeys.map(keyOf);
  if (current === undefined) throw new TypeError('there is no secret key');
  const secrets = new Map([current, ...former].map(({ kid, secret }) => [kid, secret]));

  return {
    sign: ({ sid, ...claims }) =>
      new SignJWT({
        ...claims,
        ...(sid !== undefined && { sid, session_state: sid }),
        iss: issuer,
        aud: issuer,
        typ: REFRESH_TYP,
      })
        .setProtectedHeader({ alg: ALG, typ: TYPE, kid: current.kid })
        .sign(current.secret),

    isJwt: (value) => COMPACT_JWS.test(unwrap(value)),

    async resolve(value) {
      const jwt = unwrap(value);
      if (!isCanonical(jwt)) return undefined;
      try {
        const { payload } = await jwtVerify(jwt, ({ kid = '' }) => secrets.get(kid) ?? Promise.reject(), {
          algorithms: [ALG],
          typ: TYPE,
          issuer,
          audience: issuer,
          requiredClaims: ['jti', 'azp'],
          clockTolerance: LONGEST_SECONDS,
        });
        return payload.typ === REFRESH_TYP ? payload.jti : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
