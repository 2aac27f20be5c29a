// Owns putting together people's own pages (src/self-service): ending what is shown there. What is shown
// is own-overview.ts; the password and the second factor are own-proofs.ts.
import type Koa from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import { addressKey } from '../accounts/email.ts';
import { minPasswordLength } from '../accounts/passwords/password-rules.ts';
import { CONSOLE_CLIENT_ID } from '../admin/console/client.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { readJson } from '../http/body.ts';
import type { BrowserSession } from '../oidc/browser-session.ts';
import type { RateLimits } from '../rate-limits/limits.ts';
import { accountApi } from '../self-service/api.ts';
import { createHomePage, type HomeDeps } from '../self-service/home-page.ts';
import { createPasswordPage } from '../self-service/password-page.ts';
import { accountRoutes } from '../self-service/routes.ts';
import { createSecondFactorPage } from '../self-service/second-factor-page.ts';
import type { OwnPage } from '../self-service/sign-in-url.ts';
import { createVisit, type VisitDeps, type Visitor } from '../self-service/visit.ts';
import { createApplicationAccess } from '../sessions/application-access.ts';
import type { Grants } from '../sessions/grants.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SettingValues } from '../settings/schema.ts';
import type { Store } from '../store/port.ts';
import type { AccountParts } from './accounts.ts';
import type { Factors } from './factors.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { createOwnOverview } from './own-overview.ts';
import type { createOwnProofs } from './own-proofs.ts';
import type { PasskeyApp } from './passkeys.ts';

export interface OwnAccountParts extends Pick<AccountParts, 'checkPassword' | 'confirmSession'> {
  readonly store: Store;
  readonly basePath: string;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly browser: BrowserSession;
  readonly accounts: Accounts;
  readonly clients: Pick<Clients, 'find'>;
  readonly grants: Pick<Grants, 'revoke'>;
  readonly sessions: Sessions;
  readonly passkeys: PasskeyApp;
  readonly factors: Pick<Factors, 'factors' | 'signIn' | 'mailedLinks' | 'tellOwnerOf'>;
  readonly audit: Audit;
  readonly knownBrowsers: KnownBrowsers;
  readonly limits: Pick<RateLimits, 'consume'>;
}

interface Pages extends VisitDeps {
  readonly authorize: (ctx: Koa.Context) => Promise<Visitor>;
  readonly signedIn: (ctx: Koa.Context) => Promise<Visitor | undefined>;
  readonly signInUrl: (page: OwnPage) => string;
}

/** @returns the pages and the API, which do the same */
export function createOwnAccount(
  parts: OwnAccountParts,
  pages: Pages,
  proofs: ReturnType<typeof createOwnProofs>,
): Koa.Middleware[] {
  const { store, clock, current, sessions, passkeys, factors, audit, limits, knownBrowsers } = parts;
  const { trustedDevices } = factors.factors;
  const access = createApplicationAccess({ store, grants: parts.grants });
  const visit = createVisit(pages);
  const arePasswordsOff = (): boolean => passkeys.mode() === 'passkey_only';
  const areCodesOff = (): boolean => current().mfa_mode === 'off';

  const userOf = ({ account }: Visitor) => ({ kind: 'user', id: account.id }) as const;

  const acts: HomeDeps['acts'] = {
    async endSession(who, id) {
      const session = await sessions.find(id);
      if (session?.value.accountId !== who.account.id) throw new AppError('session.not_found');
      await sessions.end(id);
    },
    async endOtherSessions(who, ctx) {
      // First: who was made known in a session that ends must not get past a lock by that.
      await (ctx === undefined
        ? knownBrowsers.forgetAll(who.account.id)
        : knownBrowsers.forgetOthers(ctx, who.account.id));
      const count = await sessions.endAllOf(who.account.id, { except: who.sessionUid });
      const user = userOf(who);
      await audit.write({
        event: 'user.sessions_revoked',
        actor: user,
        target: user,
        details: { count, is_own: true },
      });
    },
    async forgetDevice(who, id) {
      if (!(await trustedDevices.revoke(who.account.id, id))) throw new AppError('request.not_found');
      const user = userOf(who);
      await audit.write({ event: 'device.revoked', actor: user, target: user });
    },
    async forgetDevices(who) {
      const count = await trustedDevices.revokeAll(who.account.id);
      const user = userOf(who);
      await audit.write({ event: 'device.revoked', actor: user, target: user, details: { count } });
    },
    async removeApplication(who, clientId) {
      if (clientId === CONSOLE_CLIENT_ID || !(await access.remove(who.account.id, clientId)))
        throw new AppError('grant.not_found');
      const user = userOf(who);
      await audit.write({ event: 'consent.revoked', actor: user, target: user, clientId });
    },
    async sendVerification(who) {
      const { account } = who;
      if (account.email !== undefined && !account.isEmailVerified)
        await limits.consume('mail_address', addressKey(account.email));
      await factors.mailedLinks.sendEmailVerification(account);
      const user = userOf(who);
      await audit.write({ event: 'email.verification_requested', actor: user, target: user });
    },
  };
  const look = createOwnOverview({ ...parts, access });
  const password = {
    minLength: () => minPasswordLength(current()),
    arePasswordsOff,
    isPasswordEnough: proofs.isPasswordEnough,
    canReset: factors.signIn.canResetPassword,
    change: proofs.changePassword,
  };
  const secondFactor = {
    isOff: areCodesOff,
    isRequired: () => current().mfa_mode === 'required',
    qr: factors.signIn.qr,
    now: clock,
    state: proofs.state,
    begin: proofs.begin,
    reopen: proofs.reopen,
    confirm: proofs.confirm,
    removeApp: proofs.removeApp,
    removeEmail: proofs.removeEmail,
    makeCodes: proofs.makeCodes,
  };

  return [
    accountApi({
      authorize: pages.authorize,
      readJson,
      look,
      acts,
      password,
      secondFactor,
      passkeys: { list: passkeys.own, rename: passkeys.rename, remove: proofs.removePasskey },
    }),
    accountRoutes({
      views: pages.views,
      basePath: parts.basePath,
      signedIn: pages.signedIn,
      signInUrl: pages.signInUrl,
      home: createHomePage({
        visit,
        now: clock,
        overview: look.overview,
        acts,
        isKnownBrowser: knownBrowsers.isKnown,
      }),
      password: createPasswordPage({ visit, ...password }),
      secondFactor: createSecondFactorPage({ visit, ...secondFactor }),
    }),
  ];
}
