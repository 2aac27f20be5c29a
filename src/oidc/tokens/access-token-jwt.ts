// Signs and verifies access tokens: JWTs (RFC 9068), and for APIs that say so opaque values. Whether a token is still active
// depends on its stored record (models/jwt-format.ts), not on its value.
import { randomBytes } from 'node:crypto';
import { decodeJwt, importJWK, type JWK, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { AccessTokenFormat } from '../../store/apis.ts';
import type { OpaqueTokens, TokenKind } from './opaque-tokens.ts';
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

export type AccessTokenType = 'at+jwt' | 'JWT';

export interface ResolvedToken {
  readonly jti: string;
  /** The record of the token says which one it must have. */
  readonly format: AccessTokenFormat;
}

/** The payload `typ` by which a refresh token that is a JWT is recognised (refresh-token-jwt.ts); no other token of ours has it. */
export const REFRESH_TYP = 'Refresh';

export interface AccessTokenJwt {
  /** @param typ `JWT` for an API whose libraries know no other */
  sign(claims: AccessTokenClaims, typ?: AccessTokenType): Promise<string>;
  /** @returns the value of an opaque token */
  issueOpaque(kind: TokenKind, jti: string): string;
  /** @returns the `jti` of an unexpired token of that kind that we signed, and its format; else undefined */
  resolve(bearer: string, kind: TokenKind): Promise<ResolvedToken | undefined>;
  /** @returns the client of an access token that we signed, whether it is still active or not */
  clientOf(bearer: string): Promise<string | undefined>;
  /** @returns which model a JWT would belong to, unverified, or an opaque token does; undefined for anything else */
  kindOf(bearer: string): TokenKind | 'RefreshToken' | undefined;
  /**
   * Wraps a JWT so that the library treats it as an opaque token where it rejects JWTs. `resolve` unwraps it. The
   * prefix is a secret of this process, so no caller can present a wrapped token.
   */
  wrap(jwt: string): string;
}

interface Verified {
  readonly payload: JWTPayload;
  readonly typ: AccessTokenType;
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
export async function createAccessTokenJwt(
  keys: SigningKeys,
  issuer: string,
  opaque: OpaqueTokens,
): Promise<AccessTokenJwt> {
  const { current } = keys;
  const alg = 'RS256';
  // RFC 9068 §2.1. All tokens signed with this key share the header, so it is encoded once.
  const headers: Readonly<Record<AccessTokenType, string>> = {
    'at+jwt': encode({ alg, typ: 'at+jwt', kid: current.kid }),
    JWT: encode({ alg, typ: 'JWT', kid: current.kid }),
  };
  const publicKeys = new Map(
    await Promise.all(
      keys.publicJwks.map(async (jwk) => [String(jwk.kid), await importJWK(jwk, jwk.alg ?? alg)] as const),
    ),
  );

  const kindOf: AccessTokenJwt['kindOf'] = (bearer) => {
    const jwt = unwrap(bearer);
    if (!COMPACT_JWS.test(jwt)) return opaque.read(jwt)?.kind;
    try {
      const { sub, client_id: clientId, typ } = decodeJwt(jwt);
      if (typ === REFRESH_TYP) return 'RefreshToken';
      // A client credentials token has the client as its subject (RFC 9068 §2.2); a user id is never a client id.
      return sub === clientId ? 'ClientCredentials' : 'AccessToken';
    } catch {
      return undefined;
    }
  };

  async function verify(bearer: string, options: JWTVerifyOptions = {}): Promise<Verified | undefined> {
    const jwt = unwrap(bearer);
    if (!isCanonical(jwt)) return undefined;
    try {
      // RFC 9068 §4, RFC 8725 §3: only our algorithm, types and issuer, and only keys from our own key set. An ID token has
      // neither `jti` nor `client_id`, and no record as an access token.
      const { payload, protectedHeader } = await jwtVerify(
        jwt,
        ({ kid: id = '' }) => publicKeys.get(id) ?? Promise.reject(),
        {
          ...options,
          algorithms: [alg],
          issuer,
          requiredClaims: ['jti', 'sub', 'client_id', 'exp'],
        },
      );
      const { typ } = protectedHeader;
      return typ === 'at+jwt' || typ === 'JWT' ? { payload, typ } : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    // RFC 7515 §7.1 compact serialization, as jose does it but without its two Web Crypto calls.
    async sign(claims, typ = 'at+jwt') {
      const input = `${headers[typ]}.${encode(claims)}`;
      return `${input}.${(await current.sign(Buffer.from(input))).toString('base64url')}`;
    },

    issueOpaque: opaque.issue,

    wrap: (jwt) => wrapper + jwt,

    kindOf,

    async resolve(bearer, kind) {
      if (kindOf(bearer) !== kind) return undefined;
      const read = opaque.read(unwrap(bearer));
      if (read !== undefined) return { jti: read.jti, format: 'opaque' };
      const { payload: { jti } = {}, typ } = (await verify(bearer)) ?? {};
      return jti === undefined ? undefined : { jti, format: typ === 'JWT' ? 'jwt' : 'at+jwt' };
    },

    async clientOf(bearer) {
      const { payload } = (await verify(bearer, { clockTolerance: LONGEST_SECONDS })) ?? {};
      const clientId = payload?.client_id;
      return typeof clientId === 'string' ? clientId : undefined;
    },
  };
}
