// The addresses of the self-service pages below /account (passkeys-page.ts has its own), and the redirect of
// signed-out users to the sign-in page and back.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { createBackTo, createRouter, type RouteMethod } from '../http/index.ts';
import { authorizationIn } from '../oidc/index.ts';
import { type AccountPage, pathOf } from './account-pages.ts';
import type { Acts } from './acts.ts';
import { createDataPage } from './data-page.ts';
import { createDeletePage } from './delete-page.ts';
import type { SelfServiceDoors } from './doors.ts';
import { createEmailPage } from './email-page.ts';
import { createHomePage } from './home-page.ts';
import { createLauncherPage } from './launcher-page.ts';
import { createNotMePage } from './not-me-page.ts';
import type { PageKit, SelfServiceUser } from './page-kit.ts';
import { createPasswordPage } from './password-page.ts';
import { createPicturePage, servePicture } from './picture-page.ts';
import { createProfilePage } from './profile-page.ts';
import { createSecondFactorPage } from './second-factor-page.ts';

type Handle = (ctx: Koa.Context, who: SelfServiceUser) => Promise<void>;
type PublicHandle = (ctx: Koa.Context) => Promise<void>;
type Route = readonly [
  method: RouteMethod,
  path: string,
  page: AccountPage,
  handle: Handle,
  /** What is kept for after the sign-in. */
  signedOut?: PublicHandle,
];

export function accountRoutes(doors: SelfServiceDoors, kit: PageKit, acts: Acts): Koa.Middleware {
  const { views, basePath } = doors;
  const { signedIn, signInUrl, forms, goTo } = kit;
  const home = createHomePage(kit, acts);
  const launcher = createLauncherPage(kit, acts);
  const profile = createProfilePage(kit, acts);
  const picture = createPicturePage(kit, acts);
  const email = createEmailPage(kit, acts);
  const { confirmation } = email;
  const data = createDataPage(kit, acts);
  const deletion = createDeletePage(kit, acts);
  const notMe = createNotMePage(kit, acts);
  const password = createPasswordPage(kit, acts);
  const secondFactor = createSecondFactorPage(kit, acts);
  const backTo = createBackTo(doors.baseUrl);
  const routes: readonly Route[] = [
    ['GET', '/account', 'home', home.show],
    ['POST', '/account/sessions/end', 'home', home.endSession],
    ['POST', '/account/sessions/end-others', 'home', home.endOtherSessions],
    ['POST', '/account/devices/forget', 'home', home.forgetDevice],
    ['POST', '/account/devices/forget-all', 'home', home.forgetDevices],
    ['POST', '/account/applications/remove', 'home', home.removeApplication],
    ['POST', '/account/email/verify', 'home', home.sendVerification],
    ['GET', '/account/applications', 'applications', launcher.show],
    ['GET', '/account/profile', 'profile', profile.show],
    ['POST', '/account/profile', 'profile', profile.submit],
    ['GET', '/account/picture', 'picture', picture.show],
    ['POST', '/account/picture', 'picture', picture.submit],
    ['POST', '/account/picture/remove', 'picture', picture.remove],
    ['GET', '/account/email', 'email', email.show],
    ['POST', '/account/email', 'email', email.submit],
    ['POST', '/account/email/primary', 'email', email.makePrimary],
    ['POST', '/account/email/remove', 'email', email.remove],
    ['POST', '/account/email/settle', 'email', email.settle],
    ['GET', '/account/email/confirm', 'email-confirm', confirmation.show, confirmation.signedOut],
    ['POST', '/account/email/confirm', 'email', confirmation.submit],
    ['GET', '/account/data', 'data', data.show],
    ['POST', '/account/data', 'data', data.download],
    ['GET', '/account/delete', 'delete', deletion.show],
    ['POST', '/account/delete', 'delete', deletion.submit],
    ['GET', '/account/not-me', 'not-me', notMe.show],
    ['POST', '/account/not-me', 'not-me', notMe.submit],
    ['GET', '/account/password', 'password', password.show],
    ['POST', '/account/password', 'password', password.submit],
    ['GET', '/account/second-factor', 'second-factor', secondFactor.show],
    ['GET', '/account/second-factor/app', 'second-factor', secondFactor.showApp],
    ['POST', '/account/second-factor/app', 'second-factor', secondFactor.confirmApp],
    ['POST', '/account/second-factor/app/remove', 'second-factor', secondFactor.removeApp],
    ['POST', '/account/second-factor/email', 'second-factor', secondFactor.addEmail],
    ['POST', '/account/second-factor/email/remove', 'second-factor', secondFactor.removeEmail],
    ['GET', '/account/second-factor/codes', 'second-factor', secondFactor.showCodes],
    ['POST', '/account/second-factor/codes', 'second-factor', secondFactor.createCodes],
  ];

  /** Handles the return from the sign-in page, successful or not. */
  async function returnFromSignIn(ctx: Koa.Context): Promise<void> {
    const path = backTo(`${basePath}${authorizationIn(ctx.query.state) ?? pathOf(ctx.query.state)}`);
    if ((await signedIn(ctx)) !== undefined) return goTo(ctx, path);
    // Not after an error: a user who cancelled would see the sign-in page again, and a lasting error would loop.
    if (ctx.query.error === undefined) return goTo(ctx, signInUrl('home'));
    // Any site can link here with an invented error: it is not a server error, and its text is not shown.
    if (ctx.query.error !== 'access_denied') throw new AppError('signin.expired');
    views.send(ctx, 'signed-out', { continueUrl: path });
  }

  const router = createRouter();
  router.get('/avatars/:id/:size', servePicture(doors.avatars.read));
  router.get('/account/callback', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    return returnFromSignIn(ctx);
  });
  for (const [method, path, page, handle, signedOut] of routes) {
    router.on(method, path, async (ctx) => {
      ctx.set('Cache-Control', 'no-store');
      const who = await signedIn(ctx);
      if (who !== undefined) {
        await handle(ctx, who);
        return method === 'GET' ? forms.fill(ctx, who.account.id, page) : forms.place(ctx);
      }
      await signedOut?.(ctx);
      if (method === 'POST') await forms.keepOfNobody(ctx);
      goTo(ctx, signInUrl(page));
    });
  }
  const open: readonly (readonly [RouteMethod, path: string, PublicHandle])[] = [
    ['GET', '/account/email/stop', email.stop.show],
    ['POST', '/account/email/stop', email.stop.submit],
  ];
  for (const [method, path, handle] of open) {
    router.on(method, path, (ctx) => {
      ctx.set('Cache-Control', 'no-store');
      return handle(ctx);
    });
  }
  return router.middleware;
}
