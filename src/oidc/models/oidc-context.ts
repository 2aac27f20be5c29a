// Owns what is decided about a client the moment it is known, before the library checks its secret: whether it may present
// itself in that way, and at introspection and revocation that its JWT gets past the library, which refuses JWTs there
// before it looks them up (access-token-jwt.ts wraps it).
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { AccessTokenJwt } from '../access-token-jwt.ts';
import type { OIDCContextClass } from '../provider-base.ts';
import { isTrialExchange, trialRedirectUri } from '../trial-gate.ts';
import { clientRecord } from './client.ts';

interface Deps {
  readonly jwt: AccessTokenJwt;
  readonly baseUrl: string;
}

// Where clients authenticate.
const ROUTES = new Set([
  'token',
  'introspection',
  'revocation',
  'pushed_authorization_request',
  'device_authorization',
]);
const ASKING_ROUTES = new Set(['introspection', 'revocation']);

export const createOIDCContextModel = (Base: OIDCContextClass, { jwt, baseUrl }: Deps): OIDCContextClass =>
  class OIDCContext extends Base {
    constructor(ctx: KoaContextWithOIDC) {
      super(ctx);
      if (!ROUTES.has(this.route)) return;
      this.once('assign.client', (request: KoaContextWithOIDC, client: Client) => {
        refuseOtherMethod(request, client);
        const isForTrial = this.params?.redirect_uri === trialRedirectUri(baseUrl);
        // A code of a trial is redeemed by the trial itself, whoever else has it and every secret.
        if (isForTrial && !isTrialExchange(request.req, client.clientId)) {
          throw new errors.InvalidGrant('this redirect_uri is not for applications');
        }
        if (!ASKING_ROUTES.has(this.route)) return;
        // RFC 7662 §2.1: the caller must be authorised; naming a public client proves nothing.
        if (client.clientAuthMethod === 'none') {
          throw new errors.InvalidClientAuth('a public client cannot ask here');
        }
        const { params } = this;
        if (typeof params?.token === 'string' && jwt.kindOf(params.token)) {
          params.token = jwt.wrap(params.token);
        }
      });
    }
  };

/**
 * A secret is a secret in the header and in the form, and libraries differ in their default, so the library takes both.
 * But a client that said which one it uses is taken at its word (OAuth 2.1 §2.4, checklist R038).
 */
function refuseOtherMethod(ctx: KoaContextWithOIDC, client: Client): void {
  if (clientRecord(client).hasChosenAuthMethod !== true) return;
  const isInForm = ctx.oidc.params?.client_secret !== undefined;
  const isInHeader = /^basic /i.test(ctx.get('authorization'));
  const { clientAuthMethod: method } = client;
  if ((isInForm && method === 'client_secret_basic') || (isInHeader && method === 'client_secret_post')) {
    throw new errors.InvalidClientAuth('the client is registered for another authentication method');
  }
}
