// Owns `at_hash` in ID tokens of the token endpoint (OIDC Core §3.1.3.6): it binds the ID token to the access token that
// comes with it. The library adds it in the front channel only, where we issue none.
import type { IdTokenClass, IdTokenModel } from '../provider-base.ts';
import { issuedValue } from './jwt-format.ts';

export const createIdTokenModel = (Base: IdTokenClass): IdTokenClass =>
  class IdToken extends Base {
    override issue(options: Parameters<IdTokenModel['issue']>[0]): Promise<string> {
      const accessToken = options.use === 'idtoken' ? this.ctx?.oidc.entities.AccessToken : undefined;
      const value = accessToken && issuedValue(accessToken);
      // The library hashes what it finds under this name.
      if (value !== undefined) this.set('at_hash', value);
      return super.issue(options);
    }
  };
