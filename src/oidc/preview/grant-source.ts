// What the token request of a preview brings: the code of an assumed sign-in, or that of a device whose user confirmed it
// (RFC 8628 §3.3).
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { Account } from '../../accounts/index.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import { ACR } from '../../model/acr.ts';
import { DEVICE_GRANT } from '../../model/grant-types.ts';
import { amrOf } from '../../model/ways-to-sign-in.ts';
import { apiAsked } from '../entitlements/api-consent.ts';
import { type AccountDirectory, libraryAccount } from '../entitlements/find-account.ts';
import { requestedApi } from '../entitlements/requested-api.ts';
import { isGrantable } from '../entitlements/scopes.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { DIFFERS, words } from './parts.ts';

/** How users get tokens to the application: in its browser, or by a code that a device shows. */
export type Way = 'code' | 'device';

/** @returns undefined for an application that has no users */
export function wayOf(client: Client): Way | undefined {
  if (client.grantTypeAllowed('authorization_code')) return 'code';
  return client.grantTypeAllowed(DEVICE_GRANT) ? 'device' : undefined;
}

export interface Assumed {
  readonly client: Client;
  readonly account: Account;
  readonly acr: string;
  readonly way: Way;
}

interface Deps {
  readonly provider: IdentityProvider;
  readonly accounts: AccountDirectory<Account>;
  readonly clock: Clock;
}

/** A sign-in with all that the account has. */
const AMR: Readonly<Record<string, readonly string[]>> = {
  [ACR.multiFactor]: [...amrOf('password'), ...amrOf('totp')],
  [ACR.emailCode]: [...amrOf('password'), ...amrOf('email_code')],
};

/**
 * The code that a sign-in or a confirmed device would end with, agreed to.
 * @param ctx of the authorization request, whose scopes and API are settled
 * @returns the parameters of the token request
 */
export async function grantSource(
  ctx: KoaContextWithOIDC,
  { client, account, acr, way }: Assumed,
  { provider, accounts, clock }: Deps,
): Promise<Readonly<Record<string, string>>> {
  const { oidc } = ctx;
  oidc.entity('Account', libraryAccount(accounts, account));
  const grant = new provider.Grant({ accountId: account.id, clientId: client.clientId });
  const scopes = [...oidc.requestParamOIDCScopes].filter((scope) => isGrantable(scope, account.role));
  grant.addOIDCScope(scopes.join(' '));
  const ofApi = apiAsked(ctx);
  if (ofApi !== undefined) grant.addResourceScope(ofApi.api.id, ofApi.entries.join(' '));
  const identifier = requestedApi(oidc)?.api.value.identifier;
  const said = {
    accountId: account.id,
    client,
    acr,
    amr: AMR[acr] ?? amrOf('password'),
    authTime: epochSeconds(clock),
    grantId: await grant.save(),
    ...(identifier !== undefined && { resource: identifier }),
    ...(client.includeSid() && { sid: DIFFERS }),
  };
  const [redirectUri = ''] = client.redirectUris ?? [];
  const code =
    way === 'device'
      ? new provider.DeviceCode({ ...said, params: {}, deviceInfo: {}, userCode: '' })
      : new provider.AuthorizationCode({ ...said, redirectUri });
  // Whether `admin` scopes count depends on the authentication, which is read there (models/grant.ts).
  oidc.entity(way === 'device' ? 'DeviceCode' : 'AuthorizationCode', code);
  const names = new Set(oidc.requestParamScopes);
  const ofResource = identifier === undefined ? '' : grant.getResourceScopeFiltered(identifier, names);
  code.scope = [...words(grant.getOIDCScopeFiltered(names)), ...words(ofResource)].join(' ');
  const value = await code.save();
  return way === 'device'
    ? { grant_type: DEVICE_GRANT, device_code: value }
    : { grant_type: 'authorization_code', code: value, redirect_uri: redirectUri };
}
