// A preview of the tokens and claims that an application would get for a user: the grant itself runs, with the models, hooks and
// handlers of every sign-in, in a draft (draft.ts), after a sign-in that is only assumed. What comes out is a header and a payload.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Account } from '../../accounts/index.ts';
import type { Apis } from '../../apis/index.ts';
import { ACR, isBelowRequired } from '../../clients/index.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import { apiAsked } from '../entitlements/api-consent.ts';
import { liveScopes, scopeNames } from '../entitlements/api-pairs.ts';
import { mayUse } from '../entitlements/client-access.ts';
import { scopesOfClient } from '../entitlements/entitlement.ts';
import { type AccountDirectory, libraryAccount } from '../entitlements/find-account.ts';
import {
  createDefaultResource,
  createResourceServerInfo,
  requestedApi,
} from '../entitlements/requested-api.ts';
import { claimsByScope, isGrantable, scopes as known } from '../entitlements/scopes.ts';
import { keepSettledScope } from '../entitlements/settle-scope.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { clientRecord } from '../models/client.ts';
import { coveredScopes } from '../models/grant.ts';
import type { ProtocolMount } from '../mount.ts';
import { runPlainly } from '../plain/context.ts';
import { claimsUnderScopes } from '../plain/userinfo.ts';
import { createProofMaker } from '../test-sign-in/test-sign-in-proofs.ts';
import { runAsDraft } from './draft.ts';
import { contextFor, DIFFERS, decoded, type Members, type PreviewedToken } from './parts.ts';

export interface PreviewRequest {
  readonly clientId: string;
  readonly userId: string;
  /** As a request would have it; absent: none. */
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
}

export interface PreviewedScope {
  readonly name: string;
  /** Who may not have it: the application, or this user by role or groups; `unknown`: there is no such scope. */
  readonly state: 'granted' | 'application' | 'user' | 'unknown';
}

export interface TokenPreview {
  /** The answer in place of tokens; the members below are then absent. */
  readonly refusal?: { readonly error: string; readonly description: string };
  readonly idToken?: PreviewedToken;
  readonly accessToken?: PreviewedToken;
  /** The API takes opaque tokens, which say nothing by themselves. */
  readonly isOpaque?: boolean;
  readonly userinfo?: Members;
  readonly scope?: string;
  readonly scopes: readonly PreviewedScope[];
  /** Claims of granted scopes that the user has no value for. */
  readonly missing: readonly { readonly claim: string; readonly scope: string }[];
  readonly acr?: string;
  /** Whether the user would be asked for consent first, where it is not remembered. */
  readonly asksConsent: boolean;
}

interface Deps {
  readonly mount: Pick<ProtocolMount, 'provider'>;
  readonly accounts: AccountDirectory<Account>;
  readonly apis: Pick<Apis, 'findByIdentifier'>;
  readonly settings: Parameters<typeof createResourceServerInfo>[0]['settings'];
  readonly clock: Clock;
  readonly baseUrl: string;
}

/** @returns undefined when there is no such user */
export type PreviewTokens = (request: PreviewRequest) => Promise<TokenPreview | undefined>;

/** A sign-in with all that the account has. */
const AMR: Readonly<Record<string, readonly string[]>> = {
  [ACR.multiFactor]: ['pwd', 'otp', 'mfa'],
  [ACR.emailCode]: ['pwd', 'otp'],
};

const claimNames: Readonly<Record<string, readonly string[]>> = claimsByScope;

const words = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(' ').filter(Boolean))] : [];

const unmet = () =>
  new errors.UnmetAuthenticationRequirements('this account has to set up a second factor first');

const isKnown = (scope: string): boolean => known.includes(scope);

/** Those of the scopes' claims that the account has no value for. */
function missingOf(granted: readonly string[], claims: Members): TokenPreview['missing'] {
  return granted.flatMap((scope) =>
    scope === 'openid'
      ? []
      : (claimNames[scope] ?? [])
          .filter((claim) => claims[claim] === undefined)
          .map((claim) => ({ claim, scope })),
  );
}

interface Asked {
  readonly client: Client;
  readonly account: Account;
  readonly acr: string;
  readonly request: PreviewRequest;
}

export function createTokenPreview({ mount, accounts, apis, settings, clock, baseUrl }: Deps): PreviewTokens {
  const defaultResource = createDefaultResource({ apis });
  const resourceServerInfo = createResourceServerInfo({ apis, settings });

  /** What the authorization endpoint decides before a user signs in: scopes and API. @throws the library's errors */
  async function settle(ctx: KoaContextWithOIDC, client: Client): Promise<void> {
    const { oidc } = ctx;
    const { params = {} } = oidc;
    oidc.entity('Client', client);
    // Reading them settles the scopes (models/oidc-context.ts).
    void oidc.prompts;
    params.resource ??= await defaultResource(ctx, client);
    for (const identifier of [params.resource ?? []].flat()) {
      if (typeof identifier === 'string') await resourceServerInfo(ctx, identifier, client);
    }
    keepSettledScope(ctx);
  }

  /** The code that a sign-in would end with, agreed to. */
  async function codeOf(provider: IdentityProvider, ctx: KoaContextWithOIDC, asked: Asked): Promise<string> {
    const { client, account, acr } = asked;
    const { oidc } = ctx;
    oidc.entity('Account', libraryAccount(accounts, account));
    const grant = new provider.Grant({ accountId: account.id, clientId: client.clientId });
    const scopes = [...oidc.requestParamOIDCScopes].filter((scope) => isGrantable(scope, account.role));
    grant.addOIDCScope(scopes.join(' '));
    const ofApi = apiAsked(ctx);
    if (ofApi !== undefined) grant.addResourceScope(ofApi.api.id, ofApi.entries.join(' '));
    const identifier = requestedApi(oidc)?.api.value.identifier;
    const code = new provider.AuthorizationCode({
      accountId: account.id,
      client,
      acr,
      amr: AMR[acr] ?? ['pwd'],
      authTime: epochSeconds(clock),
      grantId: await grant.save(),
      redirectUri: client.redirectUris?.[0],
      ...(identifier !== undefined && { resource: identifier }),
      ...(client.includeSid() && { sid: DIFFERS }),
    });
    // Whether `admin` scopes count depends on the authentication, which is read there (models/grant.ts).
    oidc.entity('AuthorizationCode', code);
    const names = new Set(oidc.requestParamScopes);
    const ofResource = identifier === undefined ? '' : grant.getResourceScopeFiltered(identifier, names);
    code.scope = [...words(grant.getOIDCScopeFiltered(names)), ...words(ofResource)].join(' ');
    return code.save();
  }

  /** DPoP, where the application or the API demands it: by a key that is forgotten at once. */
  async function proofFor(client: Client, isDemanded: boolean): Promise<Record<string, string>> {
    if (!isDemanded && client.metadata().dpop_bound_access_tokens !== true) return {};
    const prove = await createProofMaker({ baseUrl, clock });
    return { dpop: await prove('POST', '/oauth2/token') };
  }

  async function issue(asked: Asked) {
    const { provider } = mount;
    const { client, request } = asked;
    const { scope, resource } = request;
    const params = {
      client_id: client.clientId,
      response_type: 'code',
      ...(scope !== undefined && { scope }),
      ...(resource !== undefined && { resource }),
    };
    const authorization = contextFor(provider, 'authorization', params);
    await runPlainly(authorization, () => settle(authorization, client));
    const target = requestedApi(authorization.oidc);
    if (target !== undefined && isBelowRequired(asked.acr, target.api.value)) throw unmet();
    const code = await runPlainly(authorization, () => codeOf(provider, authorization, asked));
    const exchange = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUris?.[0] ?? '',
      client_id: client.clientId,
    };
    const proof = await proofFor(client, target?.api.value.isDpopRequired === true);
    const token = contextFor(provider, 'token', exchange, proof);
    await runPlainly(token, async () => {
      token.oidc.entity('Client', client);
      await provider.grant(token);
    });
    return { authorization, token, target };
  }

  function userinfoOf(token: KoaContextWithOIDC, { client, account }: Asked): Members | undefined {
    const { Grant: grant, AccessToken: access } = token.oidc.entities;
    if (grant === undefined || access === undefined || access.aud !== undefined) return undefined;
    const covered = coveredScopes(grant, clientRecord(client), access.scopes);
    if (!covered.includes('openid')) return undefined;
    return { ...claimsUnderScopes({ ...accounts.claims(account), sub: account.id }, covered) };
  }

  async function preview(asked: Asked): Promise<TokenPreview> {
    const { client, account, acr } = asked;
    const record = clientRecord(client);
    const { token, target } = await issue(asked);
    const body: Members = typeof token.body === 'object' && token.body !== null ? { ...token.body } : {};
    const granted = words(body.scope);
    const live =
      target &&
      liveScopes(
        target.api,
        target.scopes.map(({ id }) => id),
        { id: client.clientId, record },
        account,
      );
    const stateOf = (name: string): PreviewedScope['state'] => {
      if (granted.includes(name)) return 'granted';
      const isOfApi = target?.scopes.some((scope) => scope.name === name) === true;
      if (isOfApi) return scopeNames(live ?? []).includes(name) ? 'granted' : 'user';
      if (!isKnown(name)) return 'unknown';
      return scopesOfClient(record).has(name) ? 'user' : 'application';
    };
    const accessToken = decoded(body.access_token);
    const idToken = decoded(body.id_token);
    const userinfo = await runPlainly(token, async () => userinfoOf(token, asked));
    return {
      scope: granted.join(' '),
      scopes: [...new Set([...words(asked.request.scope), ...granted])].map((name) => ({
        name,
        state: stateOf(name),
      })),
      missing: missingOf(granted, accounts.claims(account)),
      acr,
      asksConsent: !record.skipConsent,
      isOpaque: accessToken === undefined,
      ...(accessToken && { accessToken }),
      ...(idToken && { idToken }),
      ...(userinfo && { userinfo }),
    };
  }

  return async (request) => {
    const account = await accounts.find(request.userId);
    if (account === undefined) return undefined;
    const [acr = ACR.singleFactor] = accounts.reachableAcrs(account);
    try {
      const client = await mount.provider.Client.find(request.clientId);
      if (client === undefined) throw new errors.InvalidClient('the application is deactivated', 'inactive');
      const record = clientRecord(client);
      if (!client.grantTypeAllowed('authorization_code'))
        throw new errors.UnauthorizedClient('users do not sign in to this application with a code');
      if (!accounts.isUsable(account)) throw new errors.AccessDenied('this account may not sign in');
      if (!mayUse(record, account))
        throw new errors.AccessDenied('this account may not sign in to this application');
      if (isBelowRequired(acr, record)) throw unmet();
      return await runAsDraft(() => preview({ client, account, acr, request }));
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError) || error.statusCode >= 500) throw error;
      const description = error.error_description ?? error.error;
      const refusal = { error: error.error, description };
      return { refusal, scopes: [], missing: [], asksConsent: false };
    }
  };
}
