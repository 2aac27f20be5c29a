// Signs and recognises access tokens: JWTs (RFC 9068), and for APIs that say so opaque values. Whether a token is still active
// depends on its stored record (models/jwt-format.ts), not on its value.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeJwt, type JWK, type JWTPayload } from 'jose';
import { type Clock, epochSeconds, systemClock } from '../../clock.ts';
import { secretDigest } from '../../ids.ts';
import type { AccessTokenFormat } from '../../store/apis.ts';
import type { OpaqueTokens, TokenKind } from './opaque-tokens.ts';
import { type AccessTokenType, COMPACT_JWS, createOurJwts, headOf, type ReadJwt } from './our-jwts.ts';
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

export interface ResolvedToken {
  readonly jti: string;
  /** The record of the token says which one it must have. */
  readonly format: AccessTokenFormat;
  /** Whether this value was issued, not another that says the same. @param digest of the record; earlier versions stored none */
  isIssued(digest: string | undefined): boolean;
}

/** The payload `typ` by which a refresh token that is a JWT is recognised (refresh-token-jwt.ts); no other token of ours has it. */
export const REFRESH_TYP = 'Refresh';

export interface AccessTokenJwt {
  /** @param typ `JWT` for an API whose libraries know no other */
  sign(claims: AccessTokenClaims, typ?: AccessTokenType): Promise<string>;
  /** @returns the value of an opaque token */
  issueOpaque(kind: TokenKind, jti: string): string;
  /** @returns the `jti` of an unexpired token of that kind, and its format; else undefined. Its record has to prove it */
  resolve(bearer: string, kind: TokenKind): ResolvedToken | undefined;
  /** @returns the client of an access token that we signed, whether it is still active or not */
  clientOf(bearer: string): string | undefined;
  /** @returns which model a JWT would belong to, unverified, or an opaque token does; undefined for anything else */
  kindOf(bearer: string): TokenKind | 'RefreshToken' | undefined;
  /**
   * Wraps a JWT so that the library treats it as an opaque token where it rejects JWTs. `resolve` unwraps it. The
   * prefix is a secret of this process, so no caller can present a wrapped token.
   */
  wrap(jwt: string): string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function isDigestOf(digest: string, value: string): boolean {
  const [stored, own] = [Buffer.from(digest), Buffer.from(secretDigest(value))];
  return stored.length === own.length && timingSafeEqual(stored, own);
}

// A JWT contains no colon, so decoder and lookup cannot confuse the two forms. The prefix is shared by the whole process,
// so a token that was wrapped before a key rotation can be unwrapped after it.
const wrapper = `${randomBytes(32).toString('base64url')}:`;

export const unwrap = (bearer: string): string =>
  bearer.startsWith(wrapper) ? bearer.slice(wrapper.length) : bearer;

/** @param issuer issuer identifier */
export function createAccessTokenJwt(deps: {
  readonly keys: SigningKeys;
  readonly issuer: string;
  readonly opaque: OpaqueTokens;
  /** Default: the machine's, by which the library says when a token ends (lib/helpers/epoch_time.js). */
  readonly clock?: Clock;
}): AccessTokenJwt {
  const { keys, issuer, opaque, clock = systemClock } = deps;
  const { current } = keys;
  // All tokens signed with this key share the header, so it is encoded once.
  const headers: Readonly<Record<AccessTokenType, string>> = {
    'at+jwt': headOf(current.kid, 'at+jwt'),
    JWT: headOf(current.kid, 'JWT'),
  };
  const jwts = createOurJwts(keys.publicJwks, issuer);
  // A client credentials token has the client as its subject (RFC 9068 §2.2); a user id is never a client id.
  const kindBy = (sub: unknown, clientId: unknown): TokenKind =>
    sub === clientId ? 'ClientCredentials' : 'AccessToken';

  const kindOf: AccessTokenJwt['kindOf'] = (bearer) => {
    const jwt = unwrap(bearer);
    if (!COMPACT_JWS.test(jwt)) return opaque.read(jwt)?.kind;
    const said = jwts.read(jwt);
    if (said !== undefined) return kindBy(said.sub, said.clientId);
    try {
      const { sub, client_id: clientId, typ } = decodeJwt(jwt);
      return typ === REFRESH_TYP ? 'RefreshToken' : kindBy(sub, clientId);
    } catch {
      return undefined;
    }
  };

  const isCurrent = ({ exp, nbf }: ReadJwt): boolean => {
    const now = epochSeconds(clock);
    return nbf <= now && exp > now;
  };

  return {
    // RFC 7515 §7.1 compact serialization, as jose does it but without its two Web Crypto calls.
    async sign(claims, typ = 'at+jwt') {
      const input = `${headers[typ]}.${encode(claims)}`;
      return `${input}.${(await current.sign(Buffer.from(input))).toString('base64url')}`;
    },

    issueOpaque: opaque.issue,

    wrap: (jwt) => wrapper + jwt,

    kindOf,

    resolve(bearer, kind) {
      const value = unwrap(bearer);
      const said = jwts.read(value);
      if (said === undefined) {
        const read = opaque.read(value);
        // Its MAC has proved it.
        return read?.kind === kind ? { jti: read.jti, format: 'opaque', isIssued: () => true } : undefined;
      }
      if (kindBy(said.sub, said.clientId) !== kind || !isCurrent(said)) return undefined;
      return {
        jti: said.jti,
        format: said.typ === 'JWT' ? 'jwt' : 'at+jwt',
        isIssued: (digest) => (digest === undefined ? jwts.isSigned(value) : isDigestOf(digest, value)),
      };
    },

    clientOf(bearer) {
      const jwt = unwrap(bearer);
      return jwts.isSigned(jwt) ? jwts.read(jwt)?.clientId : undefined;
    },
  };
}
