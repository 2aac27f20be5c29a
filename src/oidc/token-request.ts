// A token request of this process, answered by the grant's own handler on our models. Nothing of it passes a network.
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../clock.ts';
import type { AccountDirectory } from './entitlements/find-account.ts';
import { requestAccount } from './entitlements/find-account.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { contextFor } from './library-internals.ts';
import { clientRecord } from './models/client.ts';
import { coveredScopes } from './models/grant.ts';
import { claimsUnderScopes } from './plain/userinfo.ts';
import { calledAddress } from './tokens/dpop.ts';
import { proofOfPost } from './tokens/proof-maker.ts';
import { vouchFor } from './vouched-requests.ts';

interface Deps {
  readonly provider: IdentityProvider;
  readonly clock: Clock;
}

/** @param isProofDemanded by the API; the key is forgotten at once (RFC 9449) */
export async function tokenRequest(
  { provider, clock }: Deps,
  client: Pick<Client, 'clientId' | 'metadata'>,
  params: Readonly<Record<string, string>>,
  isProofDemanded: boolean,
): Promise<KoaContextWithOIDC> {
  const isBound = isProofDemanded || client.metadata().dpop_bound_access_tokens === true;
  const ctx = contextFor(provider, 'token', { ...params, client_id: client.clientId });
  if (isBound) ctx.req.headers.dpop = await proofOfPost(calledAddress(ctx), clock);
  vouchFor(ctx.req);
  return ctx;
}

/** @returns what userinfo says to the access token; undefined where it refuses it */
export function userinfoFor(
  ctx: KoaContextWithOIDC,
  accounts: Pick<AccountDirectory, 'claims'>,
): { readonly claims: Readonly<Record<string, unknown>>; readonly scopes: readonly string[] } | undefined {
  const { client, entities } = ctx.oidc;
  const { Grant: grant, AccessToken: access } = entities;
  const account = requestAccount(ctx);
  if (client === undefined || grant === undefined || access === undefined || account === undefined)
    return undefined;
  const scopes = coveredScopes(grant, clientRecord(client), access.scopes);
  if (access.aud !== undefined || !scopes.includes('openid')) return undefined;
  const all = { ...accounts.claims(account), sub: account.id };
  return { claims: { ...claimsUnderScopes(all, scopes) }, scopes };
}
