// Checks as soon as the client of a request is known, before the library verifies its secret: its authentication method; its
// redirect URI, which may have been removed during the sign-in; the scopes of client credentials. At introspection and
// revocation it wraps JWTs (access-token-jwt.ts), which the library would reject.
import type { IncomingMessage } from 'node:http';
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { nameApi } from '../entitlements/requested-api.ts';
import { allowedScope } from '../entitlements/requested-scope.ts';
import { ACCOUNT_SCOPES } from '../entitlements/scopes.ts';
import { settleScope } from '../entitlements/settle-scope.ts';
import { refuseRequestUri, refuseWithdrawnType } from '../legacy/index.ts';
import type { OIDCContextClass } from '../provider-base.ts';
import { ignoreReauthentication } from '../requests/device-request.ts';
import { settleValues } from '../requests/settle-values.ts';
import { refuseSignedMode } from '../signed-responses.ts';
import type { AccessTokenJwt } from '../tokens/access-token-jwt.ts';
import { calledAddress } from '../tokens/dpop.ts';
import { refuseOutside, refuseRedemption } from '../vouched-requests.ts';
import { clientRecord } from './client.ts';

interface Deps {
  readonly jwt: AccessTokenJwt;
}

// The endpoints at which clients authenticate.
const ROUTES = new Set([
  'token',
  'introspection',
  'revocation',
  'pushed_authorization_request',
  'device_authorization',
]);
const SCOPE_ROUTES = new Set(['authorization', 'pushed_authorization_request', 'device_authorization']);
const TOKEN_LOOKUP_ROUTES = new Set(['introspection', 'revocation']);

const leftWithoutScope = new WeakMap<IncomingMessage, string>();

/**
 * Decision 0009: scopes that are unknown or not allowed are dropped, and a request with none left is refused. That happens
 * when the token is saved (jwt-format.ts), because only then is the client authenticated.
 * @returns the scopes that such a request asked for
 */
export const refusedScopes = (request: IncomingMessage): string | undefined => leftWithoutScope.get(request);

export const createOIDCContextModel = (Base: OIDCContextClass, { jwt }: Deps): OIDCContextClass =>
  class OIDCContext extends Base {
    readonly #ctx: KoaContextWithOIDC;

    constructor(ctx: KoaContextWithOIDC) {
      super(ctx);
      this.#ctx = ctx;
      if (this.route === 'resume') {
        // It was checked when the request arrived, possibly an hour ago.
        this.once('assign.client', (_request: KoaContextWithOIDC, client: Client) => {
          refuseWithdrawnType(this.params?.response_type, client);
          refuseSignedMode(this.params?.response_mode, client);
          if (this.#isRegistered(client)) return;
          // After a denied or failed sign-in, only the library's error handler loads the client. It ignores errors thrown
          // here, but checks the redirect URI again when this flag is false.
          Object.assign(this, { redirectUriCheckPerformed: false });
          throw new errors.InvalidRedirectUri();
        });
      }
      if (this.route === 'authorization') {
        this.once('assign.client', ({ req }: KoaContextWithOIDC, client: Client) => {
          refuseOutside(req, client.clientId);
          refuseRequestUri(req);
        });
      }
      if (!ROUTES.has(this.route)) return;
      this.once('assign.client', (request: KoaContextWithOIDC, client: Client) => {
        refuseOtherMethod(request, client);
        refuseOutside(request.req, client.clientId);
        if (this.route === 'token') {
          refuseRedemption(request.req, client.clientId);
          settleValues(this.params);
          this.#dropScopes(request, client);
        }
        if (!TOKEN_LOOKUP_ROUTES.has(this.route)) return;
        // RFC 7662 §2.1: the caller must be authorized; the id of a public client is no authentication. At a logout the
        // refresh token is (logout-programs.ts).
        if (client.clientAuthMethod === 'none' && request.state.isLogout !== true) {
          throw new errors.InvalidClientAuth('a public client cannot use this endpoint');
        }
        const { params } = this;
        if (typeof params?.token !== 'string') return;
        // Whatever it is: one that is nobody's is looked up, and not found (decision 0003).
        const token = params.token.trim();
        params.token = token.includes('.') || jwt.kindOf(token) ? jwt.wrap(token) : token || 'none';
      });
    }

    /**
     * The library's check of scopes begins by reading this, when the client is known and a pushed request is loaded
     * (lib/actions/authorization/scopes.js, request_parameters.js). No hook comes before it at all three endpoints.
     */
    override get prompts(): Set<string> {
      ignoreReauthentication(this.#ctx);
      if (SCOPE_ROUTES.has(this.route)) {
        settleValues(this.params);
        settleScope(this.#ctx);
      }
      return super.prompts;
    }

    /**
     * A proof names the address that was called, which in the foreign layout is not the route's own (RFC 9449 §4.2; the library
     * compares with this, lib/helpers/validate_dpop.js).
     */
    override urlFor(name: string, options?: Record<string, unknown>): string {
      const isOfProof = name === this.route && this.#ctx.get('DPoP') !== '';
      return isOfProof ? calledAddress(this.#ctx) : super.urlFor(name, options);
    }

    /** Whether the redirect URI of this request, if it has one, is registered now. */
    #isRegistered(client: Client): boolean {
      const uri = this.params?.redirect_uri;
      if (typeof uri !== 'string') return true;
      return client.redirectUriAllowed(uri);
    }

    #dropScopes(request: KoaContextWithOIDC, client: Client): void {
      const { params } = this;
      // The scopes of an API are those that the API grants to the application (requested-api.ts).
      if (params?.grant_type === 'client_credentials' && nameApi(request, client)) return;
      if (params?.grant_type === 'client_credentials' && typeof params.scope === 'string') {
        // An application has no account.
        const asked = params.scope.split(' ').filter((scope) => !ACCOUNT_SCOPES.has(scope));
        const left = allowedScope(asked.join(' '), client);
        if (left === undefined) leftWithoutScope.set(request.req, params.scope);
        params.scope = left;
      }
    }
  };

/**
 * By default a secret is accepted in the header and in the form, because client libraries differ. A client that registered
 * one of the two methods must use it (OAuth 2.1 §2.4).
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
