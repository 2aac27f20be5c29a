// The grant that an authorization request starts with: the one of the session, the scopes that first-party applications get
// without consent, or those that the user consented to in an earlier session.
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { isListed } from '../../apis/index.ts';
import { statementOf } from '../../clients/index.ts';
import type { ConsentRecord } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import type { SessionGrant } from '../models/grant.ts';
import type { Models } from '../provider-base.ts';
import { apiAsked, missingEntries } from './api-consent.ts';
import { mayUse } from './client-access.ts';
import { claimsUnder, scopesOfClaims } from './entitlement.ts';
import { requestAccount } from './find-account.ts';
import { isGrantable } from './scopes.ts';

interface Deps {
  readonly models: () => Pick<Models, 'Grant'>;
  readonly findConsent: (accountId: string, clientId: string) => Promise<ConsentRecord | undefined>;
}

const consented = new WeakSet<object>();

/** Whether the person of this authorization request once agreed to the application as it is now; false before it is known. */
export const hasConsented = ({ oidc }: KoaContextWithOIDC): boolean => consented.has(oidc);

export function createLoadExistingGrant({ models, findConsent }: Deps) {
  return async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { client, session, result } = ctx.oidc;
    const account = requestAccount(ctx);
    if (client === undefined || session === undefined || account === undefined) return undefined;
    // The interaction policy denies this request, so no grant may remain.
    if (!mayUse(clientRecord(client), account)) return undefined;
    const { Grant } = models();

    const knownId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    const found: SessionGrant | undefined = knownId === undefined ? undefined : await Grant.find(knownId);
    const statement = statementOf(clientRecord(client));
    const known = found?.statement === statement ? found : undefined;
    if (known !== undefined) consented.add(ctx.oidc);
    const grant: SessionGrant = known ?? new Grant({ accountId: account.id, clientId: client.clientId });
    const before = encountered(grant);
    if (statement !== undefined) grant.statement = statement;

    grant.sessionUid = session.uid;
    // A claim requested by name needs its scope (decision 0009), so that scope is requested with it.
    const claims = [...ctx.oidc.requestParamClaims];
    const asked = new Set([
      ...ctx.oidc.requestParamOIDCScopes,
      ...scopesOfClaims(claims, clientRecord(client)),
    ]);
    const missing = [...asked].filter((scope) => !before.has(scope));
    const refused = missing.filter((scope) => !isGrantable(scope, account.role));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '));

    const askable = missing.filter((scope) => !refused.includes(scope));
    const ofApi = apiAsked(ctx);
    const { skipConsent } = clientRecord(client);
    // The owner of an application answers for it at the APIs that list it by its id, and at no others (decision 0026).
    const isVouchedFor = skipConsent && ofApi !== undefined && isListed(ofApi.api.value, client.clientId);
    const missingOfApi = ofApi === undefined ? [] : missingEntries(grant, ofApi);
    const needsConsent = missingOfApi.length > 0 && !isVouchedFor;
    const consent =
      (known === undefined && !skipConsent) || needsConsent
        ? await findConsent(account.id, client.clientId)
        : undefined;
    const isConsented = consent !== undefined && consent.statement === statement;
    if (ofApi !== undefined) {
      const kept = isConsented ? (consent.apis?.[ofApi.api.id] ?? []) : [];
      const agreed = missingOfApi.filter((entry) => isVouchedFor || kept.includes(entry));
      if (agreed.length > 0) grant.addResourceScope(ofApi.api.id, agreed.join(' '));
    }
    if (skipConsent) {
      if (askable.length > 0) grant.addOIDCScope(askable.join(' '));
    } else if (known === undefined) {
      if (!isConsented) return undefined;
      consented.add(ctx.oidc);
      const agreed = askable.filter((scope) => consent.scopes.includes(scope));
      if (agreed.length > 0) grant.addOIDCScope(agreed.join(' '));
    }
    // Consent to a scope covers each claim of that scope.
    const named = claimsUnder(claims, new Set(grant.getOIDCScope().split(' ')));
    const isWidened = named.some((claim) => !grant.getOIDCClaims().includes(claim));
    if (isWidened) grant.addOIDCClaims(named);
    // Saved only when something is new, so that a silent sign-in to a known application writes no grant.
    const isWider = ofApi !== undefined && missingEntries(grant, ofApi).length < missingOfApi.length;
    // The library does this when the grant is loaded (lib/actions/authorization/session.js), and a grant is saved before.
    session.ensureClientContainer(client.clientId);
    const sid = session.sidFor(client.clientId);
    const isNew = grant.sid !== sid || isWidened || isWider || encountered(grant).size > before.size;
    grant.sid = sid;
    if (isNew) await grant.save();
    return grant;
  };
}

const encountered = (grant: Grant): Set<string> =>
  new Set(grant.getOIDCScopeEncountered().split(' ').filter(Boolean));
