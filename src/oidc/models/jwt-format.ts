// Owns access tokens as JWTs that are stored: the client gets a JWT, the store keeps its payload under `jti`. The
// library's own JWT format is not stored, and so could be neither introspected nor revoked nor used at userinfo.
import { type AccessToken, type AdapterPayload, type ClientCredentials, errors } from 'oidc-provider';
import type { AccessTokenClaims, AccessTokenJwt } from '../access-token-jwt.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import { isLeftWithoutScope } from './oidc-context.ts';

interface Deps {
  readonly issuer: string;
  readonly jwt: AccessTokenJwt;
}

const issuedValues = new WeakMap<object, string>();

/** @returns the JWT of an access token that was issued in this request */
export const issuedValue = (token: object): string | undefined => issuedValues.get(token);

/** RFC 9068 §2.2 claims of a stored payload. Reserved claims come last, so that no extra claim can replace them. */
function toClaims(payload: AdapterPayload, issuer: string): AccessTokenClaims {
  const { jti = '', clientId = '', accountId, scope, sid, iat = 0, exp = 0, aud, jkt, extra } = payload;
  return {
    ...extra,
    ...(sid === undefined ? undefined : { sid }),
    ...(scope === undefined || scope === '' ? undefined : { scope }),
    ...(jkt === undefined ? undefined : { cnf: { jkt } }),
    iss: issuer,
    sub: accountId ?? clientId,
    // Stored without an audience (userinfo refuses one); in the JWT it is the client the token was issued to.
    aud: aud ?? clientId,
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
      const value = await jwt.sign(toClaims(payload, issuer));
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
    /** The library leaves unknown scopes out, and gives a token without any where nothing else was asked for. */
    override async save(): Promise<string> {
      const { ctx } = ProviderBase;
      if (ctx !== undefined && isLeftWithoutScope(ctx.req)) {
        throw new errors.InvalidScope('the client may have none of these scopes', '');
      }
      return super.save();
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { payload } = await super.getValueAndPayload();
      return { value: await jwt.sign(toClaims(payload, issuer)), payload };
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const jti = await jwt.resolve(value, 'ClientCredentials');
      return jti === undefined ? undefined : super.find(jti, options);
    }
  };
}
