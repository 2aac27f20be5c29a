// A grant records the SSO session that it came from, so that it can be revoked when the session ends. It grants no more than
// its client and account may have now (decision 0004), wherever the library reads it: for codes, access and ID tokens, and
// userinfo.
import type { AdapterPayload, Grant } from 'oidc-provider';
import { statementOf } from '../../clients/index.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { liveScopes, scopeNames } from '../entitlements/api-pairs.ts';
import { claimsUnder, currentScopes, withheldScopes } from '../entitlements/entitlement.ts';
import { type AccountDirectory, requestAccount } from '../entitlements/find-account.ts';
import { requestedApi } from '../entitlements/requested-api.ts';
import { type GrantClass, ProviderBase } from '../provider-base.ts';
import { clientRecord } from './client.ts';
import { keepingNewer, type WithNewer, withNewer } from './newer-members.ts';

export type SessionGrant = Grant & {
  sessionUid?: string;
  /** That session as the application knows it. Absent: stored by an earlier version. */
  sid?: string | undefined;
  /** What an application that nobody vouched for said about itself when it was granted (src/clients/quarantine.ts). */
  statement?: string;
};

type Accounts = Pick<AccountDirectory, 'mayAdminister'>;

const words = (scope: string): string[] => scope.split(' ').filter(Boolean);

/** Whether its client says of itself what it said when it was granted; if not, the person is asked anew (decision 0026). */
const isOfClient = ({ statement }: Pick<SessionGrant, 'statement'>, client: ClientRecord): boolean =>
  statementOf(client) === statement;

/**
 * @param current the scopes that client and account may have now
 * @returns those that it covers, in the order in which they were granted
 */
export const coveredScopes = (
  grant: SessionGrant,
  client: ClientRecord,
  current: ReadonlySet<string>,
): string[] =>
  isOfClient(grant, client) ? words(grant.getOIDCScope()).filter((scope) => current.has(scope)) : [];

/** @returns the scopes that client and account of this request may have now */
function current(
  scopes: readonly string[],
  grant: Pick<SessionGrant, 'clientId' | 'statement'>,
  accounts: Accounts,
): string[] {
  const { ctx } = ProviderBase;
  const client = ctx?.oidc.client;
  // Without a client there is nothing to grant.
  if (ctx === undefined || client === undefined || client.clientId !== grant.clientId) return [];
  if (!isOfClient(grant, clientRecord(client))) return [];
  const account = requestAccount(ctx);
  const { AuthorizationCode, DeviceCode, RefreshToken, AccessToken } = ctx.oidc.entities;
  const source = AuthorizationCode ?? DeviceCode ?? RefreshToken ?? AccessToken ?? ctx.oidc.session ?? {};
  const withheld = account && withheldScopes(accounts, account, source);
  return currentScopes(scopes, clientRecord(client), account, withheld);
}

export function createGrantModel(
  Base: GrantClass,
  { accounts }: { readonly accounts: Accounts },
): GrantClass {
  return class Grant extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'sessionUid', 'sid', 'statement'];
    declare sessionUid?: string;
    declare sid?: string | undefined;
    declare statement?: string;
    declare newer?: WithNewer['newer'];

    static override instantiate(payload: AdapterPayload): SessionGrant {
      return withNewer(super.instantiate(payload), payload, this.IN_PAYLOAD);
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      return keepingNewer(this, await super.getValueAndPayload());
    }

    override getOIDCScopeFiltered(filter: string[] | Set<string>): string {
      return current(words(super.getOIDCScopeFiltered(filter)), this, accounts).join(' ');
    }

    /** Of the API that the request is for: its own pairs, granted, and still the client's and the person's to have. */
    override getResourceScopeFiltered(_resource: string, filter: string[] | Set<string>): string {
      const { ctx } = ProviderBase;
      const { client } = ctx?.oidc ?? {};
      const target = ctx && requestedApi(ctx.oidc);
      const account = ctx && requestAccount(ctx);
      if (client === undefined || client.clientId !== this.clientId) return '';
      if (!isOfClient(this, clientRecord(client))) return '';
      if (target === undefined || account === undefined) return '';
      const granted = words(this.getResourceScope(target.api.id));
      const ids = target.scopes.map(({ id }) => id).filter((id) => granted.includes(id));
      const names = new Set(filter);
      const holder = { id: client.clientId, record: clientRecord(client) };
      return scopeNames(liveScopes(target.api, ids, holder, account))
        .filter((name) => names.has(name))
        .join(' ');
    }

    /** A claim requested by name needs its scope, because that is what the user consented to (decision 0009). */
    override getOIDCClaimsFiltered(filter: string[] | Set<string>): string[] {
      const scopes = new Set(current(words(this.getOIDCScope()), this, accounts));
      return claimsUnder(super.getOIDCClaimsFiltered(filter), scopes);
    }

    /** A claim that an earlier version recorded without its scope was never shown, so consent is requested again. */
    override getOIDCClaimsEncountered(): string[] {
      return claimsUnder(super.getOIDCClaimsEncountered(), new Set(words(this.getOIDCScopeEncountered())));
    }
  };
}
