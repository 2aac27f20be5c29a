// Owns which grant an authorization request starts from: the session's own, what first-party applications get without
// asking, or what the person agreed to in an earlier session.
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import type { ConsentRecord } from '../store/collections.ts';
import { mayUse } from './client-access.ts';
import { claimsUnder, scopesOfClaims } from './entitlement.ts';
import { requestAccount } from './find-account.ts';
import { clientRecord } from './models/client.ts';
import type { SessionGrant } from './models/grant.ts';
import type { Models } from './provider-base.ts';
import { isGrantable } from './scopes.ts';
import { trialRedirectUri } from './trial-gate.ts';

interface Deps {
  readonly models: () => Pick<Models, 'Grant'>;
  readonly findConsent: (accountId: string, clientId: string) => Promise<ConsentRecord | undefined>;
  readonly baseUrl: string;
}

export function createLoadExistingGrant({ models, findConsent, baseUrl }: Deps) {
  return async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { client, session, result } = ctx.oidc;
    const account = requestAccount(ctx);
    if (client === undefined || session === undefined || account === undefined) return undefined;
    // Refused by the interaction policy: nothing is to be left of it.
    if (!mayUse(clientRecord(client), account)) return undefined;
    const { Grant } = models();

    const knownId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    const found: SessionGrant | undefined = knownId === undefined ? undefined : await Grant.find(knownId);
    const isTrial = ctx.oidc.params?.redirect_uri === trialRedirectUri(baseUrl);
    // Neither way: a trial ends its grant when it is over, and what was agreed to in one is no consent.
    const known = (found?.isTrial === true) === isTrial ? found : undefined;
    const grant: SessionGrant = known ?? new Grant({ accountId: account.id, clientId: client.clientId });
    const before = encountered(grant);
    if (isTrial) grant.isTrial = true;

    grant.sessionUid = session.uid;
    // A claim asked for by name needs the scope that carries it (decisions §5), so that scope is asked for with it.
    const claims = [...ctx.oidc.requestParamClaims];
    const asked = new Set([
      ...ctx.oidc.requestParamOIDCScopes,
      ...scopesOfClaims(claims, clientRecord(client)),
    ]);
    const missing = [...asked].filter((scope) => !before.has(scope));
    const refused = missing.filter((scope) => !isGrantable(scope, account.role));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '));

    const askable = missing.filter((scope) => !refused.includes(scope));
    if (clientRecord(client).skipConsent) {
      if (askable.length > 0) grant.addOIDCScope(askable.join(' '));
    } else if (known === undefined) {
      const consent = await findConsent(account.id, client.clientId);
      if (consent === undefined) return undefined;
      const agreed = askable.filter((scope) => consent.scopes.includes(scope));
      if (agreed.length > 0) grant.addOIDCScope(agreed.join(' '));
    }
    // Who agreed to a scope agreed to each claim under it.
    const named = claimsUnder(claims, new Set(grant.getOIDCScope().split(' ')));
    const isWidened = named.some((claim) => !grant.getOIDCClaims().includes(claim));
    if (isWidened) grant.addOIDCClaims(named);
    // Saved only when there is something new, so that a silent sign-in at a known application writes no grant.
    if (known === undefined || isWidened || encountered(grant).size > before.size) await grant.save();
    return grant;
  };
}

const encountered = (grant: Grant): Set<string> =>
  new Set(grant.getOIDCScopeEncountered().split(' ').filter(Boolean));
