// Owns two things about a grant: which SSO session it was born from, so that the end of the session can find and end it;
// and that it opens no more than its client and its account may have now (decisions §3), wherever the library asks it:
// issuing codes, access and ID tokens, and answering at userinfo.
import type { Grant } from 'oidc-provider';
import { claimsUnder, currentScopes, opensAdmin } from '../entitlement.ts';
import { type AccountDirectory, requestAccount } from '../find-account.ts';
import { type GrantClass, ProviderBase } from '../provider-base.ts';
import { clientRecord } from './client.ts';

export type SessionGrant = Grant & {
  sessionUid?: string;
  /** Given in a trial (trial-gate.ts): short-lived, and never the start of a real sign-in. */
  isTrial?: boolean;
};

type Accounts = Pick<AccountDirectory, 'mayAdminister'>;

const words = (scope: string): string[] => scope.split(' ').filter(Boolean);

/** @returns those that the client and the account of this request may have now */
function current(scopes: readonly string[], clientId: string | undefined, accounts: Accounts): string[] {
  const { ctx } = ProviderBase;
  const client = ctx?.oidc.client;
  // Without a client there is nobody to give anything to.
  if (ctx === undefined || client === undefined || client.clientId !== clientId) return [];
  const account = requestAccount(ctx);
  const { AuthorizationCode, DeviceCode, RefreshToken, AccessToken } = ctx.oidc.entities;
  const source = AuthorizationCode ?? DeviceCode ?? RefreshToken ?? AccessToken ?? ctx.oidc.session ?? {};
  const isForAdmin = account === undefined || opensAdmin(accounts, account, source);
  return currentScopes(scopes, clientRecord(client), account, isForAdmin);
}

export function createGrantModel(
  Base: GrantClass,
  { accounts }: { readonly accounts: Accounts },
): GrantClass {
  return class Grant extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'sessionUid', 'isTrial'];
    declare sessionUid?: string;
    declare isTrial?: boolean;

    override getOIDCScopeFiltered(filter: string[] | Set<string>): string {
      return current(words(super.getOIDCScopeFiltered(filter)), this.clientId, accounts).join(' ');
    }

    /** A claim asked for by name is given under its scope alone: that is what the person saw (decisions §8). */
    override getOIDCClaimsFiltered(filter: string[] | Set<string>): string[] {
      const scopes = new Set(current(words(this.getOIDCScope()), this.clientId, accounts));
      return claimsUnder(super.getOIDCClaimsFiltered(filter), scopes);
    }

    /** A claim that an earlier version noted without its scope was never shown, and so is asked for again. */
    override getOIDCClaimsEncountered(): string[] {
      return claimsUnder(super.getOIDCClaimsEncountered(), new Set(words(this.getOIDCScopeEncountered())));
    }
  };
}
