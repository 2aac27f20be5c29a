// Owns putting together the pages that people who are signed in have here: the administrators' (/admin) and everybody's
// own (/account). app-http.ts says when they are asked.
import type { RequestListener } from 'node:http';
import type Koa from 'koa';
import { accountPasskeys } from './account/passkeys-page.ts';
import { consoleSignInUrl } from './account/sign-in-url.ts';
import type { Accounts } from './accounts/accounts.ts';
import type { AdminRoutesDeps } from './admin/routes.ts';
import { createAdminUi } from './admin/ui/create.ts';
import type { PasskeyApp } from './app-passkeys.ts';
import type { Protection } from './app-protection.ts';
import type { TrialParts } from './app-trials.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config/types.ts';
import { readForm, readJson } from './http/body.ts';
import type { Csrf } from './http/csrf.ts';
import { createAskOurselves } from './http/in-process.ts';
import type { Views } from './http/views.ts';
import type { BrowserSession } from './oidc/browser-session.ts';
import type { AccountDirectory } from './oidc/find-account.ts';
import { ACR } from './oidc/scopes.ts';
import type { SettingValues } from './settings/schema.ts';

interface Parts {
  readonly config: Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys'>;
  readonly basePath: string;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly browser: BrowserSession;
  readonly accounts: Accounts;
  readonly directory: AccountDirectory<NonNullable<Awaited<ReturnType<Accounts['find']>>>>;
  readonly passkeys: PasskeyApp;
  readonly setActor: Protection['origins']['setActor'];
  readonly adminApi: AdminRoutesDeps;
  readonly trials: TrialParts;
  /** The whole server: the administrators' pages redeem their code like any other application. */
  readonly handler: () => RequestListener;
}

/** @returns middleware in the order in which it is to be asked */
export function createOwnPages(parts: Parts): Koa.Middleware[] {
  const { config, basePath, clock, current, views, csrf, browser, accounts, directory, passkeys } = parts;
  const { baseUrl, issuer, cookieKeys } = config;

  /** Whoever is signed in with this browser, if the account is usable and nothing ended the session since. */
  async function signedIn(ctx: Koa.Context) {
    const session = await browser.current(ctx);
    const account = session && (await accounts.find(session.accountId));
    if (session === undefined || account === undefined || !directory.isUsable(account)) return undefined;
    const signedInAt = session.loginTs ?? 0;
    if (!directory.isAuthenticationCurrent(account, signedInAt)) return undefined;
    const hasToUse = current().mfa_mode !== 'off' && account.totpVerified;
    return {
      sessionUid: session.uid,
      account,
      signedInAt,
      isFresh: passkeys.isFresh(account, session),
      hasUsedFactors: !hasToUse || session.amr?.includes('mfa') === true,
    };
  }

  const accountSignIn = { baseUrl, basePath };
  return [
    accountPasskeys({
      views,
      csrf,
      basePath,
      readForm,
      readJson,
      signedIn,
      signInUrl: () => consoleSignInUrl(accountSignIn),
      confirmUrl: (account) =>
        consoleSignInUrl({ ...accountSignIn, isFresh: true, acr: passkeys.strongestAcr(account) }),
      passkeys: {
        list: passkeys.own,
        signals: passkeys.passkeys.signals,
        begin: (input) => passkeys.passkeys.registration.begin({ ...input, mayBeKey: true }),
        add: passkeys.add,
        rename: passkeys.rename,
        remove: passkeys.remove,
      },
    }),
    createAdminUi({
      api: parts.adminApi,
      views,
      csrf,
      basePath,
      baseUrl,
      issuer,
      clock,
      readForm,
      setActor: parts.setActor,
      strongAcr: ACR.multiFactor,
      idleSeconds: () => current().admin_idle_seconds,
      ask: createAskOurselves(parts.handler),
      trials: parts.trials,
      cookieKeys,
      signedIn,
    }),
  ];
}
