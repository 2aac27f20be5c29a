// Owns `at_hash` in ID tokens of the token endpoint (OIDC Core §3.1.3.6): it binds the ID token to the access token that
// comes with it. The library adds it in the front channel only, where we issue none. Owns also that no other JWT of ours
// passes for an ID token.
import { errors } from 'oidc-provider';
import type { IdTokenClass, IdTokenModel } from '../provider-base.ts';
import { issuedValue } from './jwt-format.ts';

export const createIdTokenModel = (Base: IdTokenClass): IdTokenClass =>
  class IdToken extends Base {
    // An access token or a logout token has the same issuer, audience and key; only its type tells (RFC 8725 §3.11).
    static override async validate(...args: Parameters<IdTokenClass['validate']>) {
      const validated = await super.validate(...args);
      if (validated.header.typ !== undefined && validated.header.typ !== 'JWT') {
        throw new errors.InvalidRequest('this is no ID token');
      }
      return validated;
    }

    override issue(options: Parameters<IdTokenModel['issue']>[0]): Promise<string> {
      const accessToken = options.use === 'idtoken' ? this.ctx?.oidc.entities.AccessToken : undefined;
      const value = accessToken && issuedValue(accessToken);
      // The library hashes what it finds under this name.
      if (value !== undefined) this.set('at_hash', value);
      return super.issue(options);
    }
  };
