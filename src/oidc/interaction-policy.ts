// Owns when a person must act: the library's checks (OIDC Core §3.1.2.1) and the few that our accounts and first-party
// applications need.
import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { type MethodTimes, readMethodTimes } from '../accounts/freshness.ts';
import { acrRequestOf, wishAbove } from './acr.ts';
import { clientAccessCheck } from './client-access.ts';
import { currentScopes, scopesOfClaims } from './entitlement.ts';
import { type AccountDirectory, requestAccount } from './find-account.ts';
import { clientRecord } from './models/client.ts';
import { ADMIN_SCOPES } from './scopes.ts';

const { base, Check, Prompt } = interactionPolicy;

interface Deps {
  /** Whether second factors are in use at all. */
  readonly hasSecondFactors: () => boolean;
  /** Whether that session has not come as far as everybody has to. */
  readonly owesSecondStep: (session: {
    readonly methodTimes: MethodTimes;
    readonly amr: readonly string[];
  }) => boolean;
  readonly accounts: Pick<AccountDirectory, 'reachableAcrs' | 'mayAdminister'>;
}

export function createInteractionPolicy({
  hasSecondFactors,
  owesSecondStep,
  accounts,
}: Deps): interactionPolicy.DefaultPolicy {
  const policy = base();

  // Step-up: more asked for by `acr_values`, or by a claim that is not essential, than the session had. The first wish that
  // the account can meet is asked for, once; none that it would have to enrol for. What the sign-in then came to is what
  // the application gets (OIDC Core §3.1.2.1); an essential claim `acr` can demand it.
  policy.get('login')?.checks.add(
    new Check('second_factor', 'a second factor is required', 'login_required', (ctx: KoaContextWithOIDC) => {
      const { oidc } = ctx;
      const account = requestAccount(ctx);
      if (account === undefined || !hasSecondFactors() || oidc.result?.login !== undefined)
        return Check.NO_NEED_TO_PROMPT;
      const wish = wishAbove(acrRequestOf(oidc.params ?? {}), accounts.reachableAcrs(account), oidc.acr);
      return wish === undefined ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );

  // Decisions §2: `admin` scopes take two factors. Asked once; what is not given then leaves the scopes out (entitlement.ts).
  policy.get('login')?.checks.add(
    new Check('admin_scope', 'a second factor is required', 'login_required', (ctx: KoaContextWithOIDC) => {
      const { oidc } = ctx;
      const account = requestAccount(ctx);
      if (account === undefined || oidc.client === undefined || oidc.result?.login !== undefined)
        return Check.NO_NEED_TO_PROMPT;
      const asked = [...oidc.requestParamOIDCScopes].filter((scope) => ADMIN_SCOPES.has(scope));
      const isForAdmin = currentScopes(asked, clientRecord(oidc.client), account).length > 0;
      return isForAdmin && !accounts.mayAdminister(account, oidc.acr)
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT;
    }),
  );

  // The library lets `acr_values` take the place of the claim (lib/actions/authorization/claims.js): what is demanded by it
  // would be forgotten.
  policy.get('login')?.checks.add(
    new Check('demanded_acr', 'requested ACR could not be obtained', ({ oidc }: KoaContextWithOIDC) => {
      const { essential } = acrRequestOf(oidc.params ?? {});
      const isMissing = essential !== undefined && !essential.includes(oidc.acr ?? '');
      return isMissing && oidc.session?.accountId !== undefined
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT;
    }),
  );

  // Second factors became required after that sign-in: what it gave until now goes on at no application without one.
  policy.get('login')?.checks.add(
    new Check(
      'owed_second_step',
      'a second factor is required',
      'login_required',
      ({ oidc: { session } }: KoaContextWithOIDC) => {
        if (session?.accountId === undefined) return Check.NO_NEED_TO_PROMPT;
        const methodTimes = readMethodTimes(Reflect.get(session, 'methodTimes'));
        return owesSecondStep({ methodTimes, amr: session.amr ?? [] })
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT;
      },
    ),
  );

  // The session's account was deleted, deactivated or locked since: nobody is signed in.
  policy
    .get('login')
    ?.checks.add(
      new Check(
        'account_unavailable',
        'End-User authentication is required',
        'login_required',
        (ctx: KoaContextWithOIDC) =>
          ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined
            ? Check.REQUEST_PROMPT
            : Check.NO_NEED_TO_PROMPT,
      ),
    );

  // OIDC Core §3.1.2.1 `select_account`: the sign-in page with the current account offered.
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0);

  // Initiating User Registration via OIDC 1.0: the page to make an account on.
  policy.add(new Prompt({ name: 'create', requestable: true }), 0);

  const consent = policy.get('consent');
  consent?.checks.add(clientAccessCheck());
  if (consent !== undefined) {
    // The library asks about every claim by its name. Ours are given by the scope that carries them, so what is asked about is
    // the scope, and a claim that the client may not have is not asked about at all.
    consent.checks.remove('op_claims_missing');
    consent.checks.add(
      new Check(
        'op_claims_missing',
        'requested claims not granted',
        'consent_required',
        ({ oidc }: KoaContextWithOIDC) =>
          missingClaimScopes(oidc).length > 0 ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
        ({ oidc }: KoaContextWithOIDC) => ({ missingClaimScopes: missingClaimScopes(oidc) }),
      ),
    );
  }
  const native = consent?.checks.get('native_client_prompt');
  if (consent && native) {
    consent.checks.remove('native_client_prompt');
    // RFC 8252 §8.6: any program can claim to be a native application. First-party ones an administrator vouches for.
    consent.checks.add(
      new Check(
        'native_client_prompt',
        'native clients require End-User interaction',
        'interaction_required',
        (ctx) => {
          const { client } = ctx.oidc;
          return client !== undefined && clientRecord(client).skipConsent
            ? Check.NO_NEED_TO_PROMPT
            : native.check(ctx);
        },
      ),
    );
  }
  return policy;
}

/** @returns the scopes of claims asked for by name that this person was not asked about for this client */
function missingClaimScopes({ client, entities, requestParamClaims }: KoaContextWithOIDC['oidc']): string[] {
  const asked = new Set(entities.Grant?.getOIDCScopeEncountered().split(' '));
  if (client === undefined) return [];
  return scopesOfClaims(requestParamClaims, clientRecord(client)).filter((scope) => !asked.has(scope));
}
