// A preview of the tokens and claims that an application would get for a user, or for itself: the grant itself runs, with the models,
// hooks and handlers of every request, in a draft (draft.ts), after a sign-in that is only assumed. What comes out is a header and a
// payload.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Account } from '../../accounts/index.ts';
import { isBelowRequired } from '../../clients/index.ts';
import { ACR } from '../../model/acr.ts';
import { liveScopes, scopeNames } from '../entitlements/api-pairs.ts';
import { mayUse } from '../entitlements/client-access.ts';
import { scopesOfClient } from '../entitlements/entitlement.ts';
import {
  createDefaultResource,
  createResourceServerInfo,
  requestedApi,
} from '../entitlements/requested-api.ts';
import { claimsByScope, scopes as known } from '../entitlements/scopes.ts';
import { keepSettledScope } from '../entitlements/settle-scope.ts';
import { answerGrant, contextFor, runIn } from '../library-internals.ts';
import { clientRecord } from '../models/client.ts';
import type { MountedDoors } from '../mounted-doors.ts';
import { tokenRequest, userinfoFor } from '../token-request.ts';
import { runAsDraft } from './draft.ts';
import { type Assumed, grantSource, wayOf } from './grant-source.ts';
import { decoded, type Members, type PreviewedToken, words } from './parts.ts';

export interface PreviewRequest {
  readonly clientId: string;
  /** Absent: the application's own token, for which there is no user. */
  readonly userId?: string | undefined;
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
  /** The sign-in that is assumed. */
  readonly acr?: string;
  /** Whether the user would be asked for consent first, where it is not remembered. */
  readonly asksConsent: boolean;
}

/** @returns undefined when there is no such user */
export type PreviewTokens = (request: PreviewRequest) => Promise<TokenPreview | undefined>;

const claimNames: Readonly<Record<string, readonly string[]>> = claimsByScope;

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

interface Asked extends Assumed {
  readonly request: PreviewRequest;
}

/** What the request says, as an application would send it. */
const parametersOf = ({ clientId, scope, resource }: PreviewRequest) => ({
  client_id: clientId,
  ...(scope !== undefined && { scope }),
  ...(resource !== undefined && { resource }),
});

const bodyOf = ({ body }: KoaContextWithOIDC): Members =>
  typeof body === 'object' && body !== null ? { ...body } : {};

/** @param stateOf of a scope that was not granted */
const scopesOf = (
  asked: string | undefined,
  granted: readonly string[],
  stateOf: (name: string) => PreviewedScope['state'],
): PreviewedScope[] =>
  [...new Set([...words(asked), ...granted])].map((name) => ({
    name,
    state: granted.includes(name) ? 'granted' : stateOf(name),
  }));

export function createTokenPreview({
  mount,
  directory: accounts,
  apis,
  settings,
  clock,
}: MountedDoors): PreviewTokens {
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

  async function issue(asked: Asked) {
    const { provider } = mount;
    const { client, request, way } = asked;
    const isDevice = way === 'device';
    const route = isDevice ? 'device_authorization' : 'authorization';
    const params = { ...parametersOf(request), ...(!isDevice && { response_type: 'code' }) };
    const authorization = contextFor(provider, route, params);
    await runIn(authorization, () => settle(authorization, client));
    const target = requestedApi(authorization.oidc);
    if (target !== undefined && isBelowRequired(asked.acr, target.api.value)) throw unmet();
    const deps = { provider, accounts, clock };
    const source = await runIn(authorization, () => grantSource(authorization, asked, deps));
    const token = await exchange(client, source, target?.api.value.isDpopRequired === true);
    return { token, target };
  }

  /** The token request, answered by the grant's own handler. */
  async function exchange(
    client: Client,
    params: Readonly<Record<string, string>>,
    isProofDemanded: boolean,
  ): Promise<KoaContextWithOIDC> {
    const { provider } = mount;
    const token = await tokenRequest({ provider, clock }, client, params, isProofDemanded);
    await runIn(token, async () => {
      token.oidc.entity('Client', client);
      await answerGrant(provider, token);
    });
    return token;
  }

  async function preview(asked: Asked): Promise<TokenPreview> {
    const { client, account, acr } = asked;
    const record = clientRecord(client);
    const { token, target } = await issue(asked);
    const body = bodyOf(token);
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
      const isOfApi = target?.scopes.some((scope) => scope.name === name) === true;
      if (isOfApi) return scopeNames(live ?? []).includes(name) ? 'granted' : 'user';
      if (!isKnown(name)) return 'unknown';
      return scopesOfClient(record).has(name) ? 'user' : 'application';
    };
    const accessToken = decoded(body.access_token);
    const idToken = decoded(body.id_token);
    const userinfo = await runIn(token, async () => userinfoFor(token, accounts)?.claims);
    return {
      scope: granted.join(' '),
      scopes: scopesOf(asked.request.scope, granted, stateOf),
      missing: missingOf(granted, accounts.claims(account)),
      acr,
      asksConsent: !record.skipConsent,
      isOpaque: accessToken === undefined,
      ...(accessToken && { accessToken }),
      ...(idToken && { idToken }),
      ...(userinfo && { userinfo }),
    };
  }

  /** Client credentials (RFC 6749 §4.4): what the application may do for itself. */
  async function previewOfItself(client: Client, request: PreviewRequest): Promise<TokenPreview> {
    const api = request.resource === undefined ? undefined : await apis.findByIdentifier(request.resource);
    const params = { ...parametersOf(request), grant_type: 'client_credentials' };
    const token = await exchange(client, params, api?.value.isDpopRequired === true);
    const body = bodyOf(token);
    const granted = words(body.scope);
    const accessToken = decoded(body.access_token);
    const isOfApi = (name: string): boolean =>
      api?.value.scopes.some((scope) => scope.name === name) === true;
    return {
      scope: granted.join(' '),
      scopes: scopesOf(request.scope, granted, (name) =>
        isKnown(name) || isOfApi(name) ? 'application' : 'unknown',
      ),
      missing: [],
      asksConsent: false,
      isOpaque: accessToken === undefined,
      ...(accessToken && { accessToken }),
    };
  }

  function previewOfUser(client: Client, account: Account, request: PreviewRequest): Promise<TokenPreview> {
    const record = clientRecord(client);
    const [acr = ACR.singleFactor] = accounts.reachableAcrs(account);
    const way = wayOf(client);
    if (way === undefined) throw new errors.UnauthorizedClient('users do not sign in to this application');
    if (!accounts.isUsable(account)) throw new errors.AccessDenied('this account may not sign in');
    if (!mayUse(record, account))
      throw new errors.AccessDenied('this account may not sign in to this application');
    if (isBelowRequired(acr, record)) throw unmet();
    return runAsDraft(() => preview({ client, account, acr, way, request }));
  }

  async function previewFor(request: PreviewRequest, account: Account | undefined): Promise<TokenPreview> {
    const client = await mount.provider.Client.find(request.clientId);
    if (client === undefined) throw new errors.InvalidClient('the application is deactivated', 'inactive');
    if (account !== undefined) return previewOfUser(client, account, request);
    if (!client.grantTypeAllowed('client_credentials'))
      throw new errors.UnauthorizedClient('this application gets no tokens for itself');
    return runAsDraft(() => previewOfItself(client, request));
  }

  return async (request) => {
    const { userId } = request;
    const account = userId === undefined ? undefined : await accounts.find(userId);
    if (userId !== undefined && account === undefined) return undefined;
    try {
      return await previewFor(request, account);
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError) || error.statusCode >= 500) throw error;
      const description = error.error_description ?? error.error;
      const refusal = { error: error.error, description };
      return { refusal, scopes: [], missing: [], asksConsent: false };
    }
  };
}
