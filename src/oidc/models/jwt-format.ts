// Access tokens as JWTs whose payload is stored under `jti`. The library's own JWT format is not stored, so its tokens could
// not be introspected, revoked or used at userinfo.
import type { AccessToken, AdapterPayload, Client, ClientCredentials } from 'oidc-provider';
import type { AccessTokenClaims, AccessTokenJwt } from '../access-token-jwt.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import { noScopeLeft } from '../requested-scope.ts';
import { clientRecord } from './client.ts';
import { refusedScopes } from './oidc-context.ts';

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
    // ID token (decisions §5), or the application where an administrator says so.
    aud: aud ?? (client && clientRecord(client).accessTokenAudience === 'issuer' ? issuer : clientId),
    client_id: clientId,
    jti,
    iat,
    nbf: iat,
    exp,
  };
}

export function createAccessTokenModel(
  Base: TokenClass<AccessToken>,
  { issuer, jwt }: Deps,
): TokenClass<AccessToken> {
  // The name is part of the contract: the library derives the adapter, the TTL and the `kind` check from it.
  return class AccessToken extends Base {
    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { payload } = await super.getValueAndPayload();
      const value = await jwt.sign(toClaims(payload, issuer, this.client));
      issuedValues.set(this, value);
      return { value, payload };
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const jti = await jwt.resolve(value, 'AccessToken');
      return jti === undefined ? undefined : super.find(jti, options);
    }
  };
}

export function createClientCredentialsModel(
  Base: TokenClass<ClientCredentials>,
  { issuer, jwt }: Deps,
): TokenClass<ClientCredentials> {
  return class ClientCredentials extends Base {
    /** The library drops unknown scopes, and would issue a token without scopes when none remains. */
    override async save(): Promise<string> {
      const { ctx } = ProviderBase;
      const refused = ctx && refusedScopes(ctx.req);
      if (refused !== undefined) throw noScopeLeft(refused);
      return super.save();
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { payload } = await super.getValueAndPayload();
      return { value: await jwt.sign(toClaims(payload, issuer, this.client)), payload };
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const jti = await jwt.resolve(value, 'ClientCredentials');
      return jti === undefined ? undefined : super.find(jti, options);
    }
  };
}
