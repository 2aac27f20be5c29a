// Owns what is decided about a client the moment it is known, before the library checks its secret: whether it may present
// itself in that way, and at introspection and revocation that its JWT gets past the library, which refuses JWTs there
// before it looks them up (access-token-jwt.ts wraps it); that a code still goes where the client may be reached; and which
// scopes a client may ask for in its own name.
import type { IncomingMessage } from 'node:http';
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { AccessTokenJwt } from '../access-token-jwt.ts';
import { currentScopes } from '../entitlement.ts';
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

const leftWithoutScope = new WeakSet<IncomingMessage>();

/**
 * Decisions §5: scopes that are not allowed or known are left out, and where nothing is left the request is refused; when
 * the token is saved (jwt-format.ts), for only then has the client authenticated.
 */
export const isLeftWithoutScope = (request: IncomingMessage): boolean => leftWithoutScope.has(request);

export const createOIDCContextModel = (Base: OIDCContextClass, { jwt, baseUrl }: Deps): OIDCContextClass =>
  class OIDCContext extends Base {
    constructor(ctx: KoaContextWithOIDC) {
      super(ctx);
      if (this.route === 'resume') {
        // Checked when the request came; the person may have taken an hour since (checklist R001).
        this.once('assign.client', (_request: KoaContextWithOIDC, client: Client) => {
          if (this.#isRegistered(client)) return;
          // A sign-in that was denied or failed finds its client only in the library's error handler, which swallows what is
          // thrown here and looks at the redirect URI again where that has not been done.
          Object.assign(this, { redirectUriCheckPerformed: false });
          throw new errors.InvalidRedirectUri();
        });
      }
      if (!ROUTES.has(this.route)) return;
      this.once('assign.client', (request: KoaContextWithOIDC, client: Client) => {
        refuseOtherMethod(request, client);
        const isForTrial = this.params?.redirect_uri === trialRedirectUri(baseUrl);
        // A code of a trial is redeemed by the trial itself, whoever else has it and every secret.
        if (isForTrial && !isTrialExchange(request.req, client.clientId)) {
          throw new errors.InvalidGrant('this redirect_uri is not for applications');
        }
        if (this.route === 'token') this.#leaveOutScopes(request, client);
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

    /** Whether the redirect URI of this request, if it has one, is registered now. */
    #isRegistered(client: Client): boolean {
      const uri = this.params?.redirect_uri;
      if (typeof uri !== 'string' || uri === trialRedirectUri(baseUrl)) return true;
      return client.redirectUriAllowed(uri);
    }

    #leaveOutScopes(request: KoaContextWithOIDC, client: Client): void {
      const { params } = this;
      if (params?.grant_type === 'client_credentials' && typeof params.scope === 'string') {
        const left = currentScopes(params.scope.split(' '), clientRecord(client));
        if (left.length > 0) params.scope = left.join(' ');
        else leftWithoutScope.add(request.req);
      }
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
