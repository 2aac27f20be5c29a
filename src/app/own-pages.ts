// Owns putting together the pages that people who are signed in have here: the administrators' (/admin) and everybody's
// own (/account). http.ts says when they are asked.
import type { RequestListener } from 'node:http';
import type Koa from 'koa';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { owesSecondStep, readMethodTimes } from '../accounts/freshness.ts';
import { createAdminUi } from '../admin/console/create.ts';
import type { AdminRoutesDeps } from '../admin/routes.ts';
import type { Config } from '../config/types.ts';
import { AppError } from '../errors.ts';
import { readForm, readJson } from '../http/body.ts';
import type { Csrf } from '../http/csrf.ts';
import { createAskOurselves } from '../http/in-process.ts';
import type { MountedProvider } from '../oidc/create-provider.ts';
import type { AccountDirectory } from '../oidc/find-account.ts';
import { createAuthorizeOwner } from '../oidc/own-bearer.ts';
import { ACR } from '../oidc/scopes.ts';
import type { SessionOfToken } from '../oidc/token-session.ts';
import type { TokenState } from '../oidc/token-state.ts';
import { accountPasskeys } from '../self-service/passkeys-page.ts';
import { consoleSignInUrl, type OwnPage } from '../self-service/sign-in-url.ts';
import type { Views } from '../views/views.ts';
import { createOwnAccount, type OwnAccountParts } from './own-account.ts';
import { createOwnProofs } from './own-proofs.ts';
import type { Protection } from './protection.ts';
import type { TrialParts } from './trials.ts';

interface Parts extends Omit<OwnAccountParts, 'audit' | 'limits' | 'knownBrowsers'> {
  readonly config: Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys'>;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly directory: AccountDirectory<NonNullable<Awaited<ReturnType<Accounts['find']>>>>;
  readonly protection: Pick<Protection, 'origins' | 'audit' | 'limits' | 'knownBrowsers' | 'limitAdmins'>;
  readonly tokens: TokenState;
  readonly mounted: () => MountedProvider;
  readonly adminApi: AdminRoutesDeps;
  readonly trials: TrialParts;
  readonly sessionOf: SessionOfToken;
  /** The whole server: the administrators' pages redeem their code like any other application. */
  readonly handler: () => RequestListener;
}

/** @returns middleware in the order in which it is to be asked */
export function createOwnPages(parts: Parts): Koa.Middleware[] {
  const { config, basePath, clock, current, views, csrf, browser, accounts, directory, passkeys } = parts;
  const { origins, audit, limits, knownBrowsers } = parts.protection;
  const { baseUrl, issuer, cookieKeys } = config;

  /** Whoever is signed in with this browser, if the account is usable and nothing ended the session since. */
  async function signedIn(ctx: Koa.Context) {
    const session = await browser.current(ctx);
    const account = session && (await accounts.find(session.accountId));
    if (session === undefined || account === undefined || !directory.isUsable(account)) return undefined;
    const signedInAt = session.loginTs ?? 0;
    if (!directory.isAuthenticationCurrent(account, signedInAt)) return undefined;
    const methodTimes = readMethodTimes(Reflect.get(session, 'methodTimes'));
    const amr = session.amr ?? [];
    // Signed in before second factors were required: the sign-in that comes instead asks for what is missing.
    if (owesSecondStep(current().mfa_mode, { methodTimes, amr })) return undefined;
    return {
      sessionUid: session.uid,
      account,
      signedInAt,
      isFresh: directory.isFresh(account, methodTimes),
      methodTimes,
      amr,
      acr: session.acr,
      hasUsedFactors: directory.mayAdminister(account, session.acr),
      strongestAcr: passkeys.strongestAcr(account),
    };
  }

  /** On people's own pages: whatever comes of it, they did. */
  async function owner(ctx: Koa.Context) {
    const who = await signedIn(ctx);
    if (who !== undefined) origins.setActor({ kind: 'user', id: who.account.id });
    return who && { ...who, isBrowser: true };
  }

  const signInUrl = (page: OwnPage): string => consoleSignInUrl({ baseUrl, basePath, page });
  const confirmUrl = (account: Account, page: OwnPage): string =>
    consoleSignInUrl({ baseUrl, basePath, page, isFresh: true, acr: passkeys.strongestAcr(account) });
  const authorizeOwner = parts.protection.limitAdmins(
    createAuthorizeOwner({
      tokens: parts.tokens,
      sessionOf: parts.sessionOf,
      findClient: async (id) => (await parts.clients.find(id))?.value,
    }),
  );
  /** The same people, by the bearer of an application of ours. */
  async function authorize(ctx: Koa.Context) {
    const { id, session } = await authorizeOwner(ctx.get('authorization'));
    const account = await accounts.find(id);
    if (account === undefined) throw new AppError('auth.invalid_token');
    return {
      sessionUid: session?.uid ?? '',
      account,
      signedInAt: session?.loginTs ?? 0,
      isFresh: session !== undefined && directory.isFresh(account, session.methodTimes),
      methodTimes: session?.methodTimes ?? {},
      amr: session?.amr ?? [],
      acr: session?.acr,
      isBrowser: false,
    };
  }

  const { oneTime } = parts.factors.signIn;
  const own = { ...parts, audit, limits, knownBrowsers };
  const proofs = createOwnProofs(own);
  const ownPages = { views, csrf, oneTime, basePath, readForm, signedIn: owner };
  return [
    ...createOwnAccount(own, { ...ownPages, authorize, signInUrl, confirmUrl }, proofs),
    accountPasskeys({
      ...ownPages,
      readJson,
      signInUrl: () => signInUrl('passkeys'),
      confirmUrl: (account) => confirmUrl(account, 'passkeys'),
      passkeys: {
        list: passkeys.own,
        signals: passkeys.passkeys.signals,
        begin: (input) => passkeys.passkeys.registration.begin({ ...input, mayBeKey: true }),
        add: proofs.addPasskey,
        rename: passkeys.rename,
        remove: proofs.removePasskey,
      },
    }),
    createAdminUi({
      api: parts.adminApi,
      views,
      csrf,
      oneTime,
      basePath,
      baseUrl,
      issuer,
      clock,
      readForm,
      setActor: origins.setActor,
      strongAcr: ACR.multiFactor,
      addableFactors: () => ({
        passkey: passkeys.mode() !== 'password',
        app: current().mfa_mode !== 'off',
      }),
      idleSeconds: () => current().admin_idle_seconds,
      ask: createAskOurselves(parts.handler),
      trials: parts.trials,
      cookieKeys,
      signedIn,
    }),
  ];
}
