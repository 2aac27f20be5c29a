// The `password` grant (RFC 6749 §4.3) for old programs that an administrator allowed it: never advertised and never
// available by self-registration. Lockout, response and timing are those of the sign-in page.
import { type Client, errors, type TokenEndpointGrantContext } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import { ACR } from '../../model/acr.ts';
import { amrOf } from '../../model/ways-to-sign-in.ts';
import { mayUse } from '../entitlements/client-access.ts';
import { type AccountDirectory, libraryAccount, type OidcAccount } from '../entitlements/find-account.ts';
import { refuseApi } from '../entitlements/requested-api.ts';
import { allowedScope, noScopeLeft } from '../entitlements/requested-scope.ts';
import { INTERACTIVE_SCOPES } from '../entitlements/scopes.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { clientRecord } from '../models/client.ts';
import type { DpopProof, DpopProofs } from './dpop.ts';

interface Deps {
  readonly clock: Clock;
  readonly accounts: AccountDirectory;
  readonly authenticate: (username: string, password: string) => Promise<OidcAccount | undefined>;
  readonly revokeGrant: (grantId: string) => Promise<void>;
  readonly dpop: Pick<DpopProofs, 'readProof' | 'useProof'>;
}

type Parameters = { username?: string; password?: string };

export function registerPasswordGrant(
  provider: IdentityProvider,
  { clock, accounts, authenticate, revokeGrant, dpop }: Deps,
): void {
  const handler = async (ctx: TokenEndpointGrantContext<Parameters>): Promise<void> => {
    const { client, params } = ctx.oidc;
    const { username, password } = params;
    if (!username || !password) throw new errors.InvalidRequest('username and password are required');
    // A password given to a program opens no API.
    refuseApi(ctx, client);
    const scope = allowedAtPassword(params.scope, client);
    // Known without the password, so it is said before anything is checked or counted.
    assertOneFactorDoes(client);
    const proof = await proofFor(ctx, dpop);
    const startedAt = clock();
    const account = await authenticate(username, password);
    if (account === undefined) throw new errors.InvalidGrant('wrong username or password');
    // Not before: it is stored, and whoever has no password stores nothing.
    if (proof !== undefined) await dpop.useProof(proof, client.clientId);

    const { clientId } = client;
    const amr = amrOf('password');
    const report = { accountId: account.id, clientId, amr, methods: ['password'] };
    if (!mayUse(clientRecord(client), account)) {
      await accounts.reportSignIn({ kind: 'password_accepted', ...report, next: 'refused' });
      throw new errors.InvalidGrant('this account may not sign in to this application');
    }
    // A program with the password has one factor and cannot ask for another.
    if (accounts.owesSecondFactor(account)) {
      await accounts.reportSignIn({ kind: 'password_accepted', ...report, next: 'refused' });
      throw new errors.CustomOIDCProviderError(
        'invalid_grant',
        'this account signs in with a second factor, which this grant type cannot ask for',
      );
    }
    if (!(await accounts.complete(account))) throw new errors.InvalidGrant('wrong username or password');
    await accounts.reportSignIn({ kind: 'complete', ...report });
    const grant = new provider.Grant({ accountId: account.id, clientId });
    grant.addOIDCScope(scope);
    const grantId = await grant.save();

    const claims = accounts.claims(account);
    ctx.oidc.entity('Account', libraryAccount(accounts, account));
    const common = { accountId: account.id, client, grantId, gty: 'password', scope };
    // As the library binds them (lib/helpers/set_rt_bindings.js): a public client's refresh token, too.
    const binding = proof === undefined ? undefined : { jkt: proof.thumbprint };
    const refreshBinding = client.clientAuthMethod === 'none' ? binding : undefined;
    const authentication = { acr: ACR.singleFactor, amr, authTime: epochSeconds(clock) };

    // The access token takes `auth_time` from it, as with other grants; it is saved only for a client that may refresh.
    const source = new provider.RefreshToken({
      ...common,
      ...authentication,
      ...refreshBinding,
      rotations: 0,
    });
    ctx.oidc.entity('RefreshToken', source);
    const accessToken = new provider.AccessToken({ ...common, ...binding });
    ctx.oidc.entity('AccessToken', accessToken);
    const value = await accessToken.save();
    const refreshToken = client.grantTypeAllowed('refresh_token') ? await source.save() : undefined;

    // Read again after writing: a concurrent revocation of the account has not seen this grant.
    const known = await accounts.find(account.id);
    if (known === undefined || !accounts.isUsable(known) || !accounts.isSignInCurrent(known, startedAt)) {
      await revokeGrant(grantId);
      throw new errors.InvalidGrant('wrong username or password');
    }

    ctx.body = {
      access_token: value,
      token_type: accessToken.tokenType,
      expires_in: accessToken.expiration,
      scope,
      ...(refreshToken === undefined ? undefined : { refresh_token: refreshToken }),
      ...(accessToken.scopes.has('openid') ? { id_token: await idToken() } : undefined),
    };

    async function idToken(): Promise<string> {
      const { acr, amr, authTime } = authentication;
      const token = new provider.IdToken({ ...claims, acr, amr, auth_time: authTime }, { ctx });
      Object.assign(token, { scope, mask: {}, rejected: [] });
      return token.issue({ use: 'idtoken' });
    }
  };
  provider.registerGrantType<Parameters>('password', handler, ['username', 'password', 'scope']);
}

/**
 * As at the authorization endpoint; a password that a program knows opens neither the admin API nor the account.
 * @throws InvalidScope the client may have none of them
 */
function allowedAtPassword(requested: string | undefined, client: Client): string {
  const asked = requested ?? 'openid';
  const allowed = allowedScope(asked, client)?.split(' ') ?? [];
  const left = allowed.filter((scope) => !INTERACTIVE_SCOPES.has(scope));
  if (left.length === 0) throw noScopeLeft(asked);
  return left.join(' ');
}

/** @throws unmet_authentication_requirements */
function assertOneFactorDoes(client: Client): void {
  const { requiredAcr = ACR.singleFactor } = clientRecord(client);
  if (requiredAcr === ACR.singleFactor) return;
  throw new errors.CustomOIDCProviderError(
    'unmet_authentication_requirements',
    'this application requires more than a password, which this grant type cannot ask for',
  );
}

/** @throws InvalidGrant an application whose tokens have to be bound to a key sent no proof */
async function proofFor(
  ctx: TokenEndpointGrantContext<Parameters>,
  dpop: Pick<DpopProofs, 'readProof'>,
): Promise<DpopProof | undefined> {
  const { client } = ctx.oidc;
  const proof = await dpop.readProof(ctx);
  if (proof === undefined && client.dpopBoundAccessTokens === true)
    throw new errors.InvalidGrant('DPoP proof JWT not provided');
  return proof;
}
