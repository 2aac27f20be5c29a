// When a request needs interaction: the library's checks (OIDC Core §3.1.2.1) and ours for accounts and first-party
// applications.
import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { isPassing } from '../../client-ids.ts';
import { needsConfirmedAddress, statementOf } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import { isInForeignFrame } from '../../http/index.ts';
import { hasBareScheme } from '../../model/uris.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import { acrRequestOf, voluntaryAcrAbove } from '../entitlements/acr.ts';
import { type ApiToConsent, apiAsked, missingEntries } from '../entitlements/api-consent.ts';
import { clientAccessCheck } from '../entitlements/client-access.ts';
import { currentScopes, scopesOfClaims } from '../entitlements/entitlement.ts';
import { type AccountDirectory, requestAccount } from '../entitlements/find-account.ts';
import { hasConsented } from '../entitlements/load-grant.ts';
import { ADMIN_SCOPES } from '../entitlements/scopes.ts';
import { clientRecord } from '../models/client.ts';
import { provenTimesOf } from '../models/proven-times.ts';

const { base, Check, Prompt } = interactionPolicy;

interface Deps {
  /** Whether second factors are used at all. */
  readonly hasSecondFactors: () => boolean;
  /** Whether that session lacks a second step that every user needs. */
  readonly owesSecondStep: (session: {
    readonly methodTimes: MethodTimes;
    readonly amr: readonly string[];
  }) => boolean;
  readonly accounts: Pick<AccountDirectory, 'reachableAcrs' | 'mayAdminister'>;
}

export function createInteractionPolicy(deps: Deps): interactionPolicy.DefaultPolicy {
  const policy = base();
  const login = policy.get('login');
  login?.checks.add(stepUpCheck(deps));
  login?.checks.add(adminScopeCheck(deps));
  login?.checks.add(essentialAcrCheck());
  login?.checks.add(requiredSecondStepCheck(deps));
  login?.checks.add(accountUnavailableCheck());

  // OIDC Core §3.1.2.1 `select_account`: the sign-in page offers the current account.
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0);

  // Initiating User Registration via OIDC 1.0: the sign-up page.
  policy.add(new Prompt({ name: 'create', requestable: true }), 0);
  // Of the first prompt, so that it comes before all others.
  policy.get('create')?.checks.add(foreignFrameCheck());

  const consent = policy.get('consent');
  consent?.checks.add(clientAccessCheck());
  consent?.checks.remove('rs_scopes_missing');
  consent?.checks.add(apiConsentCheck());
  consent?.checks.add(strangerCheck());
  consent?.checks.remove('op_claims_missing');
  consent?.checks.add(missingClaimsCheck());
  const nativeClientCheck = consent?.checks.get('native_client_prompt');
  if (nativeClientCheck !== undefined) {
    consent?.checks.remove('native_client_prompt');
    consent?.checks.add(thirdPartyNativeClientCheck(nativeClientCheck));
  }
  // Last: where the consent page named application and address, this one would say it again.
  policy.add(new Prompt({ name: 'confirm' }, unconfirmedAddressCheck()));
  return policy;
}

const promptIf = (isNeeded: boolean): boolean => (isNeeded ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT);

/**
 * In a frame of another site no page of ours is shown, so only what needs none is answered: otherwise hidden frames would take the
 * places of open sign-ins of their reader's whole network. Whatever the address does not say was refused before
 * (src/http/request-guard.ts): here what was pushed, signed or sent in a body.
 */
const foreignFrameCheck = () =>
  new Check('foreign_frame', 'a page is needed', (ctx: KoaContextWithOIDC) => {
    if (isInForeignFrame(ctx) && !ctx.oidc.prompts.has('none')) throw new AppError('request.cross_site');
    return Check.NO_NEED_TO_PROMPT;
  });

/**
 * Step-up for `acr_values` or a voluntary `acr` claim above the level of the session. Only a level that the account can
 * reach without enrolling is requested, and only once; the application gets the level that the sign-in reached (OIDC Core
 * §3.1.2.1).
 */
const stepUpCheck = ({ hasSecondFactors, accounts }: Deps) =>
  new Check('second_factor', 'a second factor is required', 'login_required', (ctx: KoaContextWithOIDC) => {
    const { oidc } = ctx;
    const account = requestAccount(ctx);
    if (account === undefined || !hasSecondFactors() || oidc.result?.login !== undefined)
      return Check.NO_NEED_TO_PROMPT;
    const acr = voluntaryAcrAbove(acrRequestOf(oidc.params ?? {}), accounts.reachableAcrs(account), oidc.acr);
    return promptIf(acr !== undefined);
  });

/** Decision 0002: `admin` scopes need two factors. Requested once; without them the scopes are dropped (entitlement.ts). */
const adminScopeCheck = ({ accounts }: Deps) =>
  new Check('admin_scope', 'a second factor is required', 'login_required', (ctx: KoaContextWithOIDC) => {
    const { oidc } = ctx;
    const account = requestAccount(ctx);
    if (account === undefined || oidc.client === undefined || oidc.result?.login !== undefined)
      return Check.NO_NEED_TO_PROMPT;
    const asked = [...oidc.requestParamOIDCScopes].filter((scope) => ADMIN_SCOPES.has(scope));
    const isForAdmin = currentScopes(asked, clientRecord(oidc.client), account).length > 0;
    return promptIf(isForAdmin && !accounts.mayAdminister(account, oidc.acr));
  });

/** The library lets `acr_values` replace the essential claim (lib/actions/authorization/claims.js); both must hold. */
const essentialAcrCheck = () =>
  new Check('demanded_acr', 'requested ACR could not be obtained', ({ oidc }: KoaContextWithOIDC) => {
    const { essential } = acrRequestOf(oidc.params ?? {});
    const isMissing = essential !== undefined && !essential.includes(oidc.acr ?? '');
    return promptIf(isMissing && oidc.session?.accountId !== undefined);
  });

/** For sessions from before second factors became required: they continue at no application without one. */
const requiredSecondStepCheck = ({ owesSecondStep }: Deps) =>
  new Check(
    'owed_second_step',
    'a second factor is required',
    'login_required',
    ({ oidc: { session } }: KoaContextWithOIDC) => {
      if (session?.accountId === undefined) return Check.NO_NEED_TO_PROMPT;
      const methodTimes = provenTimesOf(session);
      return promptIf(owesSecondStep({ methodTimes, amr: session.amr ?? [] }));
    },
  );

/** The account of the session was deleted, deactivated or locked, so no user is signed in. */
const accountUnavailableCheck = () =>
  new Check(
    'account_unavailable',
    'End-User authentication is required',
    'login_required',
    (ctx: KoaContextWithOIDC) =>
      promptIf(ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined),
  );

/**
 * Replaces the library's check, which asks for consent to every claim by its name. Ours asks for the scope of the claim, and
 * not at all for a claim that the client may not have.
 */
const missingClaimsCheck = () =>
  new Check(
    'op_claims_missing',
    'requested claims not granted',
    'consent_required',
    ({ oidc }: KoaContextWithOIDC) => promptIf(missingClaimScopes(oidc).length > 0),
    ({ oidc }: KoaContextWithOIDC) => ({ missingClaimScopes: missingClaimScopes(oidc) }),
  );

const statementHere = ({ oidc: { client } }: KoaContextWithOIDC): string | undefined =>
  client && statementOf(clientRecord(client));

/** Decision 0026: nothing goes to an application that nobody vouched for before this person agreed to what it says of itself. */
const strangerCheck = () =>
  new Check(
    'stranger',
    'this application was not agreed to yet',
    'consent_required',
    (ctx: KoaContextWithOIDC) => promptIf(statementHere(ctx) !== undefined && !hasConsented(ctx)),
    (ctx: KoaContextWithOIDC) => ({ statement: statementHere(ctx) }),
  );

/** Replaces the library's check: by the ids of API and scopes, and only for what this person may have (decision 0026). */
const apiConsentCheck = () =>
  new Check(
    'rs_scopes_missing',
    'requested scopes not granted',
    'consent_required',
    (ctx: KoaContextWithOIDC) => {
      const asked = apiAsked(ctx);
      if (asked === undefined) return Check.NO_NEED_TO_PROMPT;
      if (asked.entries.length === 0)
        throw new errors.AccessDenied('this account may have none of the requested scopes of the API');
      return promptIf(detailsOf(ctx) !== undefined);
    },
    (ctx: KoaContextWithOIDC) => ({ apiToConsent: detailsOf(ctx) }),
  );

function detailsOf(ctx: KoaContextWithOIDC): ApiToConsent | undefined {
  const asked = apiAsked(ctx);
  const { Grant: grant } = ctx.oidc.entities;
  if (asked === undefined || grant === undefined) return undefined;
  const { api, entries } = asked;
  const missing = missingEntries(grant, asked);
  if (missing.length > 0) return { apiId: api.id, entries: missing, isNew: true };
  return ctx.oidc.promptPending('consent') ? { apiId: api.id, entries, isNew: false } : undefined;
}

/** RFC 8252 §8.6: no administrator can vouch for the program that listens at such an address on the person's device. */
const unconfirmedAddressCheck = () =>
  new Check(
    'unconfirmed_address',
    'this redirect_uri requires End-User interaction',
    'interaction_required',
    ({ oidc: { client, params, result, requestParamScopes } }: KoaContextWithOIDC) => {
      const redirectUri = params?.redirect_uri;
      const isAnswered = result?.consent !== undefined || result?.confirm !== undefined;
      if (client === undefined || typeof redirectUri !== 'string' || isAnswered)
        return Check.NO_NEED_TO_PROMPT;
      if (params?.response_type === 'none' || isPassing(client.clientId)) return Check.NO_NEED_TO_PROMPT;
      return promptIf(needsConfirmedAddress(clientRecord(client), redirectUri, requestParamScopes));
    },
  );

/** RFC 8252 §8.6: any program can claim to be a native application. That of a first-party one is asked about by `confirm`. */
const thirdPartyNativeClientCheck = (libraryCheck: interactionPolicy.Check) =>
  new Check(
    'native_client_prompt',
    'native clients require End-User interaction',
    'interaction_required',
    (ctx) => {
      const { client, params } = ctx.oidc;
      // Nobody vouches for whoever else claimed the scheme (`cursor:`): a click each time.
      const isBare = typeof params?.redirect_uri === 'string' && hasBareScheme(params.redirect_uri);
      return client !== undefined && clientRecord(client).skipConsent && !isBare
        ? Check.NO_NEED_TO_PROMPT
        : libraryCheck.check(ctx);
    },
  );

/** @returns the scopes of claims requested by name for which this user was not asked for consent to this client */
function missingClaimScopes({ client, entities, requestParamClaims }: KoaContextWithOIDC['oidc']): string[] {
  const asked = new Set(entities.Grant?.getOIDCScopeEncountered().split(' '));
  if (client === undefined) return [];
  return scopesOfClaims(requestParamClaims, clientRecord(client)).filter((scope) => !asked.has(scope));
}
