// Owns the door of introspection and revocation for clients that authenticate themselves: the library refuses JWTs there
// before it looks them up, so the token is wrapped first (access-token-jwt.ts). It happens when the client is known and
// before the library reads the token; the client's secret is checked by the library right after.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { AccessTokenJwt } from '../access-token-jwt.ts';
import type { OIDCContextClass } from '../provider-base.ts';

interface Deps {
  readonly jwt: AccessTokenJwt;
}

export const createOIDCContextModel = (Base: OIDCContextClass, { jwt }: Deps): OIDCContextClass =>
  class OIDCContext extends Base {
    constructor(ctx: KoaContextWithOIDC) {
      super(ctx);
      if (this.route !== 'introspection' && this.route !== 'revocation') return;
      this.once('assign.client', (_ctx: KoaContextWithOIDC, client: Client) => {
        // RFC 7662 §2.1: the caller must be authorised; naming a public client proves nothing.
        if (client.clientAuthMethod === 'none')
          throw new errors.InvalidClientAuth('a public client cannot ask here');
        const { params } = this;
        if (typeof params?.token === 'string' && jwt.kindOf(params.token))
          params.token = jwt.wrap(params.token);
      });
    }
  };
