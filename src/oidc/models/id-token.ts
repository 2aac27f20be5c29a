// Adds `at_hash` to ID tokens of the token endpoint (OIDC Core §3.1.3.6), which binds them to their access token; the library
// adds it only in the front channel, where we issue none. Adds what applications with `keycloak_tokens` read. Also rejects other JWTs of ours in place of an ID token.
import { errors } from 'oidc-provider';
import { hasKeycloakTokens, keycloakClaims } from '../foreign-layout/keycloak-tokens.ts';
import type { IdTokenClass, IdTokenModel } from '../provider-base.ts';
import { noteSignedResponse } from '../signed-responses.ts';
import { clientRecord } from './client.ts';
import { issuedValue } from './jwt-format.ts';

const OF_OTHER_JWTS = ['scope', 'client_id', 'events', 'response'] as const;

export const createIdTokenModel = (Base: IdTokenClass): IdTokenClass =>
  class IdToken extends Base {
    // Access and logout tokens have the same issuer and key, and may have the same audience (RFC 8725 §3.11, decision 0005).
    static override async validate(...args: Parameters<IdTokenClass['validate']>) {
      const validated = await super.validate(...args);
      const { header, payload } = validated;
      const isTyped = header.typ !== undefined && header.typ !== 'JWT';
      const isMarked = payload.typ !== undefined && payload.typ !== 'ID';
      const isOther = OF_OTHER_JWTS.some((claim) => payload[claim] !== undefined);
      const isWhole = typeof payload.aud === 'string' && typeof payload.exp === 'number';
      if (isTyped || isMarked || isOther || !isWhole) {
        throw new errors.InvalidRequest('this is not an ID token');
      }
      return validated;
    }

    override issue(options: Parameters<IdTokenModel['issue']>[0]): Promise<string> {
      if (options.use === 'authorization')
        return super.issue(options).then((jwt) => noteSignedResponse(this.ctx, this.client, jwt));
      const isIdToken = options.use === 'idtoken';
      const accessToken = isIdToken ? this.ctx?.oidc.entities.AccessToken : undefined;
      const value = accessToken && issuedValue(accessToken);
      // The library hashes the value of this claim.
      if (value !== undefined) this.set('at_hash', value);
      // The claims of scopes can be had from userinfo, unless this is all that the application gets (OIDC Core §5.4); those that
      // the parameter `claims` names for the ID token stay.
      const isAlone = this.ctx?.oidc.params?.response_type === 'id_token';
      if (isIdToken && !isAlone && this.client && clientRecord(this.client).minimalIdTokens === true)
        this.scope = 'openid';
      if (isIdToken && hasKeycloakTokens(this.client)) {
        const claims = keycloakClaims('ID', this.client.clientId, this.extra.sid);
        for (const [name, claim] of Object.entries(claims)) this.set(name, claim);
      }
      return super.issue(options);
    }
  };
