// Self-service: /account and /account/api, where signed-in users read and change their own account. It owns the
// pages, the API and the users' actions. Not here: the rules for passwords and accounts are in src/accounts, for
// factors in src/second-factors and src/passkeys, for freshness in src/oidc/signed-in-user.ts. Start with routes.ts
// (pages) and api.ts; both call account-acts.ts and credential-changes.ts.
import type Koa from 'koa';
import { minPasswordLength } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Origins } from '../events/index.ts';
import { readForm, readJson } from '../http/index.ts';
import { consoleSignInUrl, type SignedInUsers, type UserBearer } from '../oidc/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import { toQrDataUri } from '../second-factors/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { type AccountActsDeps, createAccountActs, type KnownBrowsers } from './account-acts.ts';
import type { AccountPage } from './account-pages.ts';
import { accountApi } from './api.ts';
import { type CredentialChangesDeps, createCredentialChanges } from './credential-changes.ts';
import { createHomePage } from './home-page.ts';
import { createOverview, type OverviewDeps } from './overview.ts';
import { createPageKit, type PageKitDeps, type SelfServiceUser } from './page-kit.ts';
import { accountPasskeys } from './passkeys-page.ts';
import { createPasswordPage } from './password-page.ts';
import { accountRoutes } from './routes.ts';
import { createSecondFactorPage } from './second-factor-page.ts';

export interface SelfServiceDeps {
  readonly site: { readonly baseUrl: string; readonly basePath: string };
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly pages: Pick<PageKitDeps, 'views' | 'csrf' | 'oneTime'>;
  readonly users: {
    readonly signedIn: SignedInUsers;
    /** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
    readonly authorize: (authorization: string | undefined) => Promise<UserBearer>;
    readonly origins: Pick<Origins, 'setActor'>;
  };
  /** The domains that the actions change. */
  readonly domains: AccountActsDeps &
    Omit<CredentialChangesDeps, 'signedIn' | 'settings' | 'baseUrl'> &
    Omit<OverviewDeps, 'clock' | 'settings'> & {
      readonly passkeys: Passkeys;
      readonly knownBrowsers: KnownBrowsers;
      readonly recovery: { canResetPassword(): boolean };
    };
}

/** @returns middleware, in the order of use */
export function createSelfService({ clock, settings, ...deps }: SelfServiceDeps): Koa.Middleware[] {
  const { site, pages, domains } = deps;
  const { signedIn, authorize, origins } = deps.users;
  const { passkeys } = domains;

  /** Events of this request have the user as their actor. */
  async function ofBrowser(ctx: Koa.Context): Promise<SelfServiceUser | undefined> {
    const user = await signedIn.ofBrowser(ctx);
    if (user !== undefined) origins.setActor({ kind: 'user', id: user.account.id });
    return user && { ...user, isBrowser: true };
  }

  async function ofBearer(ctx: Koa.Context): Promise<SelfServiceUser> {
    const user = await signedIn.ofBearer(await authorize(ctx.get('authorization')));
    return { ...user, isBrowser: false };
  }

  const signInUrl = (page: AccountPage): string => consoleSignInUrl({ ...site, page });
  const confirmUrl: PageKitDeps['confirmUrl'] = (account, page) =>
    consoleSignInUrl({ ...site, page, isFresh: true, acr: signedIn.strongestAcr(account) });

  const kit = createPageKit({ ...pages, basePath: site.basePath, readForm, confirmUrl });
  const acts = createAccountActs(domains);
  const overview = createOverview({ ...domains, clock, settings });
  const changes = createCredentialChanges({ ...domains, signedIn, settings, baseUrl: site.baseUrl });
  const password = {
    minLength: () => minPasswordLength(settings()),
    arePasswordsOff: () => settings().auth_mode === 'passkey_only',
    isPasswordEnough: changes.isPasswordEnough,
    canReset: domains.recovery.canResetPassword,
    change: changes.changePassword,
  };
  const secondFactor = {
    isOff: () => settings().mfa_mode === 'off',
    isRequired: () => settings().mfa_mode === 'required',
    qr: toQrDataUri,
    now: clock,
    ...changes.secondFactor,
  };

  return [
    accountApi({
      authorize: ofBearer,
      readJson,
      overview,
      acts,
      password,
      secondFactor,
      passkeys: { list: passkeys.own, rename: passkeys.rename, remove: changes.removePasskey },
    }),
    accountRoutes({
      views: pages.views,
      basePath: site.basePath,
      signedIn: ofBrowser,
      signInUrl,
      home: createHomePage({
        kit,
        now: clock,
        overview: overview.all,
        acts,
        isKnownBrowser: domains.knownBrowsers.isKnown,
      }),
      password: createPasswordPage({ kit, ...password }),
      secondFactor: createSecondFactorPage({ kit, ...secondFactor }),
    }),
    accountPasskeys({
      ...pages,
      basePath: site.basePath,
      readForm,
      readJson,
      signedIn: ofBrowser,
      signInUrl: () => signInUrl('passkeys'),
      confirmUrl: (account) => confirmUrl(account, 'passkeys'),
      passkeys: {
        list: passkeys.own,
        signals: passkeys.signals,
        begin: (input) => passkeys.beginRegistration({ ...input, mayBeKey: true }),
        add: changes.addPasskey,
        rename: passkeys.rename,
        remove: changes.removePasskey,
      },
    }),
  ];
}
