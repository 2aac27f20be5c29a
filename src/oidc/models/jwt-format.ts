// Access tokens as JWTs whose payload is stored under `jti`. The library's own JWT format is not stored, so its tokens could
// not be introspected, revoked or used at userinfo.
import type { AccessToken, AdapterPayload, Client, ClientCredentials } from 'oidc-provider';
import { secretDigest } from '../../ids.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import { grantedClaims } from '../entitlements/api-consent.ts';
import { type ApiPairs, pairsOf } from '../entitlements/api-pairs.ts';
import { requestedApi } from '../entitlements/requested-api.ts';
import { noScopeLeft } from '../entitlements/requested-scope.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import type { AccessTokenClaims, AccessTokenJwt, ResolvedToken } from '../tokens/access-token-jwt.ts';
import type { TokenKind } from '../tokens/opaque-tokens.ts';
import { clientRecord } from './client.ts';
import { confirmedInSource } from './confirmed.ts';
import { refusedScopes } from './oidc-context.ts';
import { timesOfSource } from './proven-times.ts';

interface Deps {
  readonly issuer: string;
  readonly jwt: AccessTokenJwt;
}

const issuedValues = new WeakMap<object, string>();

/** @returns the JWT of an access token issued in this request */
export const issuedValue = (token: object): string | undefined => issuedValues.get(token);

/** RFC 9068 §2.2. Reserved claims come last, so that no extra claim can replace them. */
function toClaims(payload: AdapterPayload, issuer: string, client: Client | undefined): AccessTokenClaims {
  const { jti = '', clientId = '', accountId, scope, sid, iat = 0, exp = 0, aud, jkt, extra } = payload;
  return {
    ...extra,
    ...(sid === undefined ? undefined : { sid }),
    ...(scope === undefined || scope === '' ? undefined : { scope }),
    ...(jkt === undefined ? undefined : { cnf: { jkt } }),
    iss: issuer,
    sub: accountId ?? clientId,
    // Stored without an audience, which userinfo rejects. In the JWT it is this server, so that no access token passes for an
    // ID token (decision 0006), or the application where an administrator says so.
    aud: aud ?? (client && clientRecord(client).accessTokenAudience === 'issuer' ? issuer : clientId),
    client_id: clientId,
    jti,
    iat,
    nbf: iat,
    exp,
  };
}

interface ForAnApi {
  readonly aud?: unknown;
  readonly scope?: string | undefined;
}

/** @returns what the record of a token for an API says about it; undefined for a token of ours */
function pairsToStore({ aud, scope }: ForAnApi): ApiPairs | undefined {
  if (aud === undefined) return undefined;
  const target = ProviderBase.ctx && requestedApi(ProviderBase.ctx.oidc);
  const names = scope?.split(' ') ?? [];
  const scopes = target?.scopes.filter(({ name }) => names.includes(name)) ?? [];
  // Some APIs look at the audience alone, so there is no token for an API without a scope of it.
  if (target === undefined || scopes.length === 0) throw noScopeLeft(scope ?? '');
  const { accessTokenFormat: format } = target.api.value;
  const { Grant: grant, Client: client } = ProviderBase.ctx?.oidc.entities ?? {};
  const claims = grant && client ? grantedClaims(grant, target.api, clientRecord(client)) : [];
  return {
    id: target.api.id,
    scopeIds: scopes.map(({ id }) => id),
    ...(format !== 'at+jwt' && { format }),
    claims,
  };
}

/** The value that goes to the client, in the format of the API. */
function tokenValue(
  jwt: AccessTokenJwt,
  kind: TokenKind,
  claims: AccessTokenClaims,
  pairs: ApiPairs | undefined,
): string | Promise<string> {
  const format = pairs?.format;
  if (format === 'opaque') return jwt.issueOpaque(kind, claims.jti);
  return jwt.sign(claims, format === 'jwt' ? 'JWT' : 'at+jwt');
}

/** What goes to the client, and to the store: of a JWT its digest, by which it is known again. An opaque value has a MAC. */
async function issued(
  jwt: AccessTokenJwt,
  kind: TokenKind,
  claims: AccessTokenClaims,
  payload: AdapterPayload,
  pairs: ApiPairs | undefined,
): Promise<{ value: string; payload: AdapterPayload }> {
  const value = await tokenValue(jwt, kind, claims, pairs);
  return {
    value,
    payload: pairs?.format === 'opaque' ? payload : { ...payload, valueDigest: secretDigest(value) },
  };
}

/** Whether the record is that of this very value. */
export function isRecordOf(resolved: ResolvedToken, record: object): boolean {
  const digest =
    'valueDigest' in record && typeof record.valueDigest === 'string' ? record.valueDigest : undefined;
  return resolved.format === (pairsOf(record)?.format ?? 'at+jwt') && resolved.isIssued(digest);
}

export function createAccessTokenModel(
  Base: TokenClass<AccessToken>,
  { issuer, jwt }: Deps,
): TokenClass<AccessToken> {
  // The name is part of the contract: the library derives the adapter, the TTL and the `kind` check from it.
  return class AccessToken extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'api', 'methodTimes', 'confirmedAt', 'valueDigest'];
    declare api?: ApiPairs;
    declare valueDigest?: string;
    /** In the store alone, never in the JWT. */
    declare methodTimes?: MethodTimes;

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const pairs = pairsToStore(this);
      if (pairs !== undefined) this.api = pairs;
      const times = timesOfSource(this);
      if (times !== undefined) this.methodTimes = times;
      Object.assign(this, confirmedInSource(this));
      const { payload } = await super.getValueAndPayload();
      const claims = toClaims(payload, issuer, this.client);
      const found = await issued(jwt, 'AccessToken', claims, payload, pairs);
      issuedValues.set(this, found.value);
      return found;
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const resolved = jwt.resolve(value, 'AccessToken');
      const token = resolved && (await super.find(resolved.jti, options));
      if (resolved === undefined || token === undefined || !isRecordOf(resolved, token)) return undefined;
      // Decision 0002: a token for an API is no credential at userinfo.
      const isOfApi = pairsOf(token) !== undefined;
      return isOfApi && ProviderBase.ctx?.oidc.route === 'userinfo' ? undefined : token;
    }
  };
}

export function createClientCredentialsModel(
  Base: TokenClass<ClientCredentials>,
  { issuer, jwt }: Deps,
): TokenClass<ClientCredentials> {
  return class ClientCredentials extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'api', 'valueDigest'];
    declare api?: ApiPairs;
    declare valueDigest?: string;

    /** The library drops unknown scopes, and would issue a token without scopes when none remains. */
    override async save(): Promise<string> {
      const { ctx } = ProviderBase;
      const refused = ctx && refusedScopes(ctx.req);
      if (refused !== undefined) throw noScopeLeft(refused);
      return super.save();
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const pairs = pairsToStore(this);
      if (pairs !== undefined) this.api = pairs;
      const { payload } = await super.getValueAndPayload();
      const claims = toClaims(payload, issuer, this.client);
      return issued(jwt, 'ClientCredentials', claims, payload, pairs);
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const resolved = jwt.resolve(value, 'ClientCredentials');
      const token = resolved && (await super.find(resolved.jti, options));
      return resolved && token && isRecordOf(resolved, token) ? token : undefined;
    }
  };
}
