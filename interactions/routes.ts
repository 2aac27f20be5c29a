// The routes of the sign-in pages, and the dispatcher: the next page follows only from the stored state of the interaction, so
// no step can be skipped by opening an address.
import type Koa from 'koa';
import { createRouter, readForm } from '../src/http/index.ts';
import type { LogoutPages, ProtocolPages } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { createConsentPage } from './consent.ts';
import { createCurrentInteraction } from './current.ts';
import { createDevicePages } from './device.ts';
import { createShowInteraction } from './dispatcher.ts';
import { createDonePages } from './done-pages.ts';
import type { InteractionDoors } from './doors.ts';
import { createEnrolmentPages } from './enrolment.ts';
import { createRenderError, createSendErrorPage } from './error-pages.ts';
import { createHomeRedirects } from './home.ts';
import { createInvitationPages } from './invitation.ts';
import { createLanguageChoice } from './language.ts';
import { createLoginPage } from './login.ts';
import { createLogoutPages } from './logout-pages.ts';
import { createMailedLinkPages } from './mailed-links.ts';
import { createOnboardingPage } from './onboarding.ts';
import { createPasskeyCeremonies } from './passkeys.ts';
import { createRecoverPage } from './recover.ts';
import { createSecondFactorPages } from './second-factor.ts';
import { createSignInParts } from './sign-in-parts.ts';
import { createSigninSteps } from './signin-steps.ts';
import { createSignupPages } from './signup.ts';
import { createWaysBack } from './way-back.ts';

export interface Interactions {
  readonly middleware: Koa.Middleware;
  readonly protocolPages: ProtocolPages;
  readonly logoutPages: LogoutPages;
  readonly sendErrorPage: ReturnType<typeof createSendErrorPage>;
}

function handOf(doors: InteractionDoors): AtHand {
  const parts = createSignInParts(doors);
  const current = createCurrentInteraction(doors);
  return {
    ...doors,
    ...parts,
    current,
    findClient: (id) => doors.mount.provider.Client.find(id),
    steps: createSigninSteps(doors, parts, current),
    waysBack: createWaysBack(doors),
    done: createDonePages(doors),
  };
}

const pagesOf = (hand: AtHand) => ({
  signup: createSignupPages(hand),
  invitation: createInvitationPages(hand),
  enrolment: createEnrolmentPages(hand),
  login: createLoginPage(hand),
  ceremonies: createPasskeyCeremonies(hand),
  factors: createSecondFactorPages(hand),
  recover: createRecoverPage(hand),
  mailed: createMailedLinkPages(hand),
  consent: createConsentPage(hand),
  onboarding: createOnboardingPage(hand),
  homeRedirects: createHomeRedirects(hand),
  language: createLanguageChoice(hand),
});

function addRoutes(
  router: ReturnType<typeof createRouter>,
  pages: ReturnType<typeof pagesOf>,
  { accounts, done }: AtHand,
): void {
  const { login, consent, signup, invitation, enrolment, factors, ceremonies, recover, mailed } = pages;
  const { onboarding, homeRedirects } = pages;
  // Without an application, sign-in and sign-up lead to the account page.
  router.get('/oauth2/login', (ctx) =>
    'interaction' in ctx.query ? login.again(ctx) : homeRedirects.signIn(ctx),
  );
  router.post('/oauth2/login', (ctx) => login.submit(ctx));
  router.get('/oauth2/consent', (ctx) => consent.again(ctx));
  router.post('/oauth2/consent', (ctx) => consent.submit(ctx));
  router.get('/oauth2/signup', (ctx) => {
    const { token } = ctx.query;
    if (typeof token === 'string') return invitation.show(ctx, token);
    if (done.isAsked(ctx)) return invitation.showDone(ctx);
    return 'interaction' in ctx.query ? signup.again(ctx) : homeRedirects.signUp(ctx);
  });
  // An address to print and to tell.
  router.get('/signup', (ctx) => homeRedirects.signUp(ctx));
  router.post('/oauth2/signup', async (ctx) => {
    const form = await readForm(ctx);
    return form.has('token') ? invitation.submit(ctx, form) : signup.submit(ctx, form);
  });
  router.get('/oauth2/signup/verify', (ctx) => signup.showCode(ctx));
  router.post('/oauth2/signup/verify', (ctx) => signup.submitCode(ctx));
  router.post('/oauth2/signup/email', (ctx) => signup.resend(ctx));
  router.get('/oauth2/enrol', (ctx) => enrolment.show(ctx));
  router.post('/oauth2/enrol', (ctx) => enrolment.submit(ctx));
  router.get('/oauth2/mfa', (ctx) => factors.show(ctx));
  router.post('/oauth2/mfa', (ctx) => factors.submit(ctx));
  router.post('/oauth2/mfa/email', (ctx) => factors.sendEmail(ctx));
  router.post('/oauth2/passkey/login/begin', (ctx) => ceremonies.beginSignIn(ctx));
  router.post('/oauth2/passkey/login/finish', (ctx) => ceremonies.finishSignIn(ctx));
  router.post('/oauth2/passkey/register/begin', (ctx) => ceremonies.beginRegistration(ctx));
  router.post('/oauth2/passkey/register/finish', (ctx) => ceremonies.finishRegistration(ctx));
  router.get('/oauth2/recover', (ctx) => recover.show(ctx));
  router.post('/oauth2/recover', (ctx) => recover.submit(ctx));
  router.get('/oauth2/forgot-password', (ctx) => mailed.showForgotten(ctx));
  router.post('/oauth2/forgot-password', (ctx) => mailed.submitForgotten(ctx));
  router.get('/oauth2/reset-password', (ctx) => mailed.showReset(ctx));
  router.post('/oauth2/reset-password', (ctx) => mailed.submitReset(ctx));
  router.get('/oauth2/verify-email', (ctx) => mailed.showVerification(ctx));
  router.post('/oauth2/verify-email', (ctx) => mailed.submitVerification(ctx));
  router.get('/oauth2/magic-link', (ctx) => mailed.showMagicLink(ctx));
  router.post('/oauth2/magic-link', (ctx) => mailed.submitMagicLink(ctx));
  router.post('/oauth2/language', (ctx) => pages.language.submit(ctx));
  router.get('/', async (ctx) =>
    (await accounts.hasAdmin()) ? homeRedirects.home(ctx) : onboarding.show(ctx),
  );
  for (const path of ['/onboard', '/oauth2/onboard']) router.get(path, (ctx) => onboarding.show(ctx));
  for (const path of ['/', '/onboard', '/oauth2/onboard']) {
    router.post(path, (ctx) => onboarding.submit(ctx));
  }
}

export function createInteractions(doors: InteractionDoors): Interactions {
  const hand = handOf(doors);
  const pages = pagesOf(hand);
  const router = createRouter();
  addRoutes(router, pages, hand);
  return {
    middleware: router.middleware,
    sendErrorPage: createSendErrorPage(hand),
    logoutPages: createLogoutPages(hand),
    protocolPages: {
      renderError: createRenderError(hand),
      devicePages: createDevicePages(doors),
      showFormPost: (ctx, action, fields) =>
        doors.views.send(ctx, 'continue', { action, fields }, { formAction: [action] }),
      showInteraction: createShowInteraction(hand, pages),
    },
  };
}
