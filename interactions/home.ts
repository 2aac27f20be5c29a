// The start page after onboarding redirects administrators to the Admin UI and other users to their account page, which
// requires a sign-in. Sign-in and sign-up opened without an application redirect there as well (decision 0001).
import type Koa from 'koa';
import { accessOfRole } from '../src/accounts/index.ts';
import { consoleSignInUrl } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';

export interface HomeRedirects {
  home(ctx: Koa.Context): Promise<void>;
  signIn(ctx: Koa.Context): void;
  signUp(ctx: Koa.Context): Promise<void>;
}

export function createHomeRedirects({ browser, accounts, baseUrl, basePath }: AtHand): HomeRedirects {
  const account = `${basePath}/account`;

  function goTo(ctx: Koa.Context, url: string): void {
    ctx.status = 303;
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(url);
  }

  return {
    async home(ctx) {
      const session = await browser.current(ctx);
      const signedIn = session && (await accounts.find(session.accountId));
      const isAdministrator = signedIn !== undefined && accessOfRole(signedIn.role) !== undefined;
      goTo(ctx, isAdministrator ? `${basePath}/admin` : account);
    },
    signIn: (ctx) => goTo(ctx, account),
    async signUp(ctx) {
      const isSignedIn = (await browser.current(ctx)) !== undefined;
      // A sign-up that leads to /account; where sign-up is closed, a sign-in.
      goTo(ctx, isSignedIn ? account : consoleSignInUrl({ baseUrl, basePath, page: 'home', isSignUp: true }));
    },
  };
}
