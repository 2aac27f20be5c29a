// One log line per refusal of the protocol, for whoever sets up an application: which error, why, whose, and for an address
// what it was compared with. Never a code, token, secret or query.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { requestIdOf } from '../http/index.ts';
import type { Logger } from '../log.ts';
import type { IdentityProvider } from './identity-provider.ts';

interface Refusal {
  readonly message: string;
  readonly error_description?: string | undefined;
  readonly error_detail?: string | undefined;
}

const MAX_TEXT = 300;
const MAX_ADDRESSES = 10;

/** Responses of the device flow while the user has not decided (RFC 8628 §3.5), not errors. */
const PENDING = new Set(['authorization_pending', 'slow_down']);

/**
 * `error_detail` is what the library tells the operator alone. Some of it repeats what the client sent, so only known texts are
 * logged (lib/shared/client_auth.js, lib/shared/jwt_client_auth.js, lib/actions/grants, lib/helpers/grant_source.js).
 */
const DETAILS =
  /^(?:(?:refresh token|authorization code|device code|grant|access token|RefreshToken|AuthorizationCode|DeviceCode) (?:not found|is expired|already (?:used|consumed)|was used before|redirect_uri mismatch|invalid \(referenced account not found\))|client mismatch|accountId mismatch|PKCE verification failed|code_verifier (?:without code_challenge|missing|is plain|is malformed)|client not found|invalid secret provided|alg mismatch|the provided authentication mechanism does not match the registered client authentication method|(?:list of )?audience \(aud\) must [\w, ]+|client assertion tokens must only be used once|no applicable key found in the JSON Web Key Set|signature verification failed)$/;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;

/** Without the query, which may carry anything. */
const address = (value: unknown): string | undefined => text(value)?.replace(/[?#].*$/s, '?…');

export function logRefusals(provider: Pick<IdentityProvider, 'on'>, log: Pick<Logger, 'info'>): void {
  const refused =
    (endpoint: string) =>
    (ctx: KoaContextWithOIDC, refusal: Refusal): void => {
      if (PENDING.has(refusal.message)) return;
      const { client, params } = ctx.oidc;
      const detail = refusal.error_detail;
      const isAboutAddress = refusal.message === 'invalid_redirect_uri' || /redirect_uri/.test(detail ?? '');
      log.info(
        {
          event: 'refused',
          request_id: requestIdOf(ctx),
          endpoint,
          error: refusal.message,
          reason: detail !== undefined && DETAILS.test(detail) ? detail : text(refusal.error_description),
          client_id: client?.clientId ?? text(params?.client_id),
          ...(isAboutAddress && {
            redirect_uri: address(params?.redirect_uri),
            registered: client?.redirectUris?.slice(0, MAX_ADDRESSES).map(address),
          }),
        },
        'request refused',
      );
    };
  provider.on('authorization.error', refused('authorization'));
  provider.on('grant.error', refused('token'));
  provider.on('userinfo.error', refused('userinfo'));
  provider.on('introspection.error', refused('introspection'));
  provider.on('revocation.error', refused('revocation'));
  provider.on('pushed_authorization_request.error', refused('par'));
  provider.on('device_authorization.error', refused('device_authorization'));
}
