// Signs and verifies access tokens as JWTs (RFC 9068). Whether a token is still active depends on its stored record
// (models/jwt-format.ts), not on the JWT.
import { randomBytes } from 'node:crypto';
import { decodeJwt, importJWK, type JWK, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { SigningKey } from './signing-key.ts';

export interface SigningKeys {
  readonly current: SigningKey;
  /** Public keys whose tokens may still be valid: current, next and recently retired. */
  readonly publicJwks: readonly JWK[];
}

export interface AccessTokenClaims extends JWTPayload {
  jti: string;
  client_id: string;
}

export type TokenKind = 'AccessToken' | 'ClientCredentials';

/** The payload `typ` by which a refresh token that is a JWT is recognised (refresh-token-jwt.ts); no other token of ours has it. */
export const REFRESH_TYP = 'Refresh';

export interface AccessTokenJwt {
  sign(claims: AccessTokenClaims): Promise<string>;
  /** @returns the `jti` of an unexpired token of that kind that we signed, else undefined */
  resolve(bearer: string, kind: TokenKind): Promise<string | undefined>;
  /** @returns the client of an access token that we signed, whether it is still active or not */
  clientOf(bearer: string): Promise<string | undefined>;
  /** @returns which model a JWT would belong to, unverified; undefined for anything that is not a JWT */
  kindOf(bearer: string): TokenKind | 'RefreshToken' | undefined;
  /**
   * Wraps a JWT so that the library treats it as an opaque token where it rejects JWTs. `resolve` unwraps it. The
   * prefix is a secret of this process, so no caller can present a wrapped token.
   */
  wrap(jwt: string): string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

// A JWT contains no colon, so decoder and lookup cannot confuse the two forms. The prefix is shared by the whole process,
// so a token that was wrapped before a key rotation can be unwrapped after it.
const wrapper = `${randomBytes(32).toString('base64url')}:`;

export const unwrap = (bearer: string): string =>
  bearer.startsWith(wrapper) ? bearer.slice(wrapper.length) : bearer;

/** Longer than any token lives or any of our keys is kept. */
const LONGEST_SECONDS = 31_536_000;

export const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

// The last base64url symbol has unused bits; without this check a token could be altered and still verify.
export const isCanonical = (jwt: string): boolean =>
  jwt.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/** @param issuer issuer identifier; a token of another issuer is not ours even if the key were the same */
export async function createAccessTokenJwt(keys: SigningKeys, issuer: string): Promise<AccessTokenJwt> {
  const { current } = keys;
  const alg = 'RS256';
  // RFC 9068 §2.1. All tokens signed with this key share the header, so it is encoded once.
  const header = encode({ alg, typ: 'at+jwt', kid: current.kid });
  const publicKeys = new Map(
    await Promise.all(
      keys.publicJwks.map(async (jwk) => [String(jwk.kid), await importJWK(jwk, jwk.alg ?? alg)] as const),
    ),
  );

  const kindOf: AccessTokenJwt['kindOf'] = (bearer) => {
    const jwt = unwrap(bearer);
    if (!COMPACT_JWS.test(jwt)) return undefined;
    try {
      const { sub, client_id: clientId, typ } = decodeJwt(jwt);
      if (typ === REFRESH_TYP) return 'RefreshToken';
      // A client credentials token has the client as its subject (RFC 9068 §2.2); a user id is never a client id.
      return sub === clientId ? 'ClientCredentials' : 'AccessToken';
    } catch {
      return undefined;
    }
  };

  async function verify(bearer: string, options: JWTVerifyOptions = {}): Promise<JWTPayload | undefined> {
    const jwt = unwrap(bearer);
    if (!isCanonical(jwt)) return undefined;
    try {
      // RFC 9068 §4, RFC 8725 §3: only our algorithm, type and issuer, and only keys from our own key set.
      const { payload } = await jwtVerify(jwt, ({ kid: id = '' }) => publicKeys.get(id) ?? Promise.reject(), {
        ...options,
        algorithms: [alg],
        typ: 'at+jwt',
        issuer,
        requiredClaims: ['jti', 'sub', 'client_id', 'exp'],
      });
      return payload;
    } catch {
      return undefined;
    }
  }

  return {
    // RFC 7515 §7.1 compact serialization, as jose does it but without its two Web Crypto calls.
    async sign(claims) {
      const input = `${header}.${encode(claims)}`;
      return `${input}.${(await current.sign(Buffer.from(input))).toString('base64url')}`;
    },

    wrap: (jwt) => wrapper + jwt,

    kindOf,

    async resolve(bearer, kind) {
      return kindOf(bearer) === kind ? (await verify(bearer))?.jti : undefined;
    },

    async clientOf(bearer) {
      const { client_id: clientId } = (await verify(bearer, { clockTolerance: LONGEST_SECONDS })) ?? {};
      return typeof clientId === 'string' ? clientId : undefined;
    },
  };
}
