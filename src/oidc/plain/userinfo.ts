// Userinfo (OIDC Core §5.3) by GET with a bearer token. What was asked for claim by claim, signed answers, proofs and refused
// scopes are the library's (lib/actions/userinfo.js).
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { claimsByScope } from '../entitlements/scopes.ts';
import { coveredScopes } from '../models/grant.ts';
import type { TokenState } from '../tokens/token-state.ts';
import type { PlainHandler } from './plain-answers.ts';
import { isReadableBy } from './plain-client.ts';
import { bearerOf } from './plain-request.ts';

interface Deps {
  readonly tokens: TokenState;
  readonly accounts: Pick<AccountDirectory, 'claims'>;
}

const claimNames: Readonly<Record<string, readonly string[]>> = claimsByScope;

/** @returns the claims of those scopes, in their order; `sub` is always among them, because `openid` is among the scopes */
export function claimsUnderScopes(
  claims: Readonly<Record<string, unknown>>,
  scopes: readonly string[],
): object {
  const shown: Record<string, unknown> = {};
  for (const scope of scopes) {
    for (const name of Object.hasOwn(claimNames, scope) ? (claimNames[scope] ?? []) : []) {
      if (Object.hasOwn(claims, name)) shown[name] = claims[name];
    }
  }
  return shown;
}

export const userinfoPlainly =
  ({ tokens, accounts }: Deps): PlainHandler =>
  async (request, { origin }) => {
    const value = bearerOf(request);
    const live = value === undefined ? undefined : await tokens.live(await tokens.find(value));
    if (live?.token.kind !== 'AccessToken' || live.target !== undefined) return undefined;
    const { token, account, client, grant, scopes } = live;
    if (account === undefined || grant === undefined || !scopes.has('openid')) return undefined;
    if (!isReadableBy(client, origin)) return undefined;
    // Bound to a key, for another audience, or with claims that were asked for by name.
    if (token.isSenderConstrained() || token.aud !== undefined || token.claims !== undefined)
      return undefined;
    // A person who was asked said no to a claim.
    if (grant.getRejectedOIDCClaims().length > 0) return undefined;
    const { userinfo_signed_response_alg: signed, userinfo_encrypted_response_alg: encrypted } =
      client.metadata;
    if (signed !== undefined || encrypted !== undefined) return undefined;
    const covered = coveredScopes(grant, client, scopes);
    if (!covered.includes('openid')) return undefined;
    return claimsUnderScopes({ ...accounts.claims(account), sub: account.id }, covered);
  };
