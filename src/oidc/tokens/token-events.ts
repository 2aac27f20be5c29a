// Records tokens that were issued, refused and reused, from the library's events. Recording never waits, so it delays no
// token. Reuse is rare and revokes a grant, so it is recorded at once; the rest is batched in memory (src/audit/token-log.ts).
import type { KoaContextWithOIDC } from 'oidc-provider';
import { registeredId } from '../../client-ids.ts';
import { isUseStale } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { Events } from '../../events/index.ts';
import { wordOfGrant } from '../../model/grant-types.ts';
import { knownDetail } from '../../model/refusals/refusals.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { clientRecord } from '../models/client.ts';
import { isDraft } from '../preview/draft.ts';
import type { RepeatWatch } from '../requests/repeated-values.ts';

interface Deps extends RepeatWatch {
  readonly events: Pick<Events, 'emit' | 'note'>;
  readonly clock: Clock;
}

/** Responses of the device flow while the user has not decided (RFC 8628 §3.5), not errors. */
const PENDING = new Set(['authorization_pending', 'slow_down']);

function grantTypeOf({ oidc }: KoaContextWithOIDC): string | undefined {
  const asked: unknown = oidc.params?.grant_type;
  if (typeof asked !== 'string' || oidc.route !== 'token') return undefined;
  return wordOfGrant(asked) ?? 'other';
}

/** Subscribes to the token events of this provider. */
export function reportTokens(
  provider: Pick<IdentityProvider, 'on'>,
  { events, clock, codeIssued }: Deps,
): void {
  provider.on('grant.success', (ctx: KoaContextWithOIDC) => {
    const { client, entities } = ctx.oidc;
    const grantType = grantTypeOf(ctx);
    if (client === undefined || grantType === undefined) return;
    const clientId = registeredId(client.clientId);
    if (isUseStale(clientRecord(client), clock())) events.emit('quarantinedUsed', { clientId });
    if (grantType === 'refresh_token') return events.emit('tokensRefreshed', { clientId });
    if (grantType === 'client_credentials') return events.emit('machineTokensIssued', { clientId });
    const { AccessToken: token, Account: account } = entities;
    events.emit('tokensIssued', {
      clientId,
      accountId: account?.accountId,
      grantId: token?.grantId,
      grantType,
      scope: token?.scope,
    });
  });

  provider.on('authorization_code.saved', ({ clientId, codeChallenge, nonce }) => {
    if (clientId !== undefined && !isDraft())
      codeIssued({ clientId: registeredId(clientId), codeChallenge, nonce });
  });

  // Emitted wherever the library revokes a grant; at the token endpoint only when a code or token was used twice.
  provider.on('grant.revoked', (ctx: KoaContextWithOIDC, grantId: string) => {
    const { client, entities, route } = ctx.oidc;
    const grantType = grantTypeOf(ctx);
    if (route !== 'token' || grantType === undefined) return;
    const used = entities.RefreshToken ?? entities.AuthorizationCode ?? entities.DeviceCode;
    // A used code or refresh token came back (RFC 6749 §4.1.2, RFC 9700 §4.14.2).
    events.note({
      event: 'token.reused',
      outcome: 'failure',
      ...(client !== undefined && { actor: { kind: 'client', id: client.clientId } }),
      target: { kind: 'grant', id: grantId },
      clientId: client?.clientId,
      details: { grant_type: grantType, user_id: used?.accountId },
    });
  });

  const refused =
    (endpoint: string) =>
    (
      ctx: KoaContextWithOIDC,
      error: { readonly message: string; readonly error_detail?: string | undefined },
    ): void => {
      if (PENDING.has(error.message) || ctx.state.serverError !== undefined) return;
      events.emit('tokensRefused', {
        clientId: registeredId(ctx.oidc.client?.clientId),
        endpoint,
        grantType: grantTypeOf(ctx),
        error: error.message,
        detail: knownDetail(error.error_detail),
      });
    };
  provider.on('grant.error', refused('token'));
  provider.on('userinfo.error', refused('userinfo'));
  provider.on('introspection.error', refused('introspection'));
  provider.on('revocation.error', refused('revocation'));
  provider.on('pushed_authorization_request.error', refused('par'));
  provider.on('device_authorization.error', refused('device_authorization'));
}
