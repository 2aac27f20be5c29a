// The routes of the sign-in pages, and the dispatcher: the next page follows only from the stored state of the interaction, so
// no step can be skipped by opening an address.

import type Koa from 'koa';
import { type Account, minPasswordLength } from '../src/accounts/index.ts';
import { createRouter, readForm, readJson } from '../src/http/index.ts';
import type { ProtocolDoors } from '../src/oidc/index.ts';
import type { LogoutPages, ProtocolPages } from '../src/oidc/sign-in.ts';
import { createConfirmedAct } from './confirmed-act.ts';
import { createConsentPage } from './consent.ts';
import { createCurrentInteraction } from './current.ts';
import { createDevicePages } from './device.ts';
import { createShowInteraction } from './dispatcher.ts';
import { createDonePages } from './done-pages.ts';
import { createEnrolmentPages } from './enrolment.ts';
import { createRenderError, createSendErrorPage } from './error-pages.ts';
import { createFurtherSteps } from './further-steps.ts';
import { createHomeRedirects } from './home.ts';
import { createInvitationPages } from './invitation.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { createLanguageChoice } from './language.ts';
import { createLoginPage } from './login.ts';
import { createLogoutPages } from './logout-pages.ts';
import { createMailedLinkPages } from './mailed-links.ts';
import { createOnboardingPage } from './onboarding.ts';
import { createRecoverPage } from './recover.ts';
import { createSignInParts } from './sign-in-parts.ts';
import { createSigninSteps } from './signin-steps.ts';
import { createSignupPages } from './signup.ts';
import { createWaysBack } from './way-back.ts';

/** What is at hand in a sign-in. */
export interface InteractionDoors extends ProtocolDoors {
  readonly knownBrowsers: KnownBrowsers;
}

function partsOf(doors: InteractionDoors) {
  const { mount, directory, sessions } = doors;
  return {
    ...doors,
    readForm,
    readJson,
    provider: () => mount.provider,
    reachableAcrs: directory.reachableAcrs,
    mayAdminister: directory.mayAdminister,
    endSession: sessions.end,
  };
}

type Parts = ReturnType<typeof partsOf>;

export interface Interactions {
  readonly middleware: Koa.Middleware;
  readonly protocolPages: ProtocolPages;
  readonly logoutPages: LogoutPages;
  readonly sendErrorPage: ReturnType<typeof createSendErrorPage>;
}

function createPages(deps: Parts) {
  const { accounts, recovery, clock } = deps;
  const { signUp } = deps.registration;
  const signIn = createSignInParts(deps);
  const minLength = () => minPasswordLength(deps.settings());
  const current = createCurrentInteraction(deps);
  const waysBack = createWaysBack(deps);
  const done = createDonePages(deps);
  const findClient = (id: string) => deps.provider().Client.find(id);
  const findAccount = (id: string): Promise<Account | undefined> => accounts.find(id);
  const steps = createSigninSteps({ ...deps, ...signIn, now: clock, current });
  const signup = createSignupPages({ ...deps, signup: signUp, current, steps });
  const invitation = createInvitationPages({
    ...deps,
    ...signIn,
    waysBack,
    done,
    isComplete: (account) => signIn.stepOf(account, signIn.mfaMode()) === 'none',
  });
  const enrolment = createEnrolmentPages({ ...deps, done });
  const login = createLoginPage({
    ...deps,
    ...signIn,
    current,
    steps,
    findAccount,
    canResetPassword: recovery.canResetPassword,
    canUseMagicLinks: recovery.canUseMagicLinks,
    canSignUp: signUp.isOpen,
    confirmedAct: createConfirmedAct({ ...deps, findAccount, findClient }),
  });
  const { ceremonies, factors } = createFurtherSteps({
    ...signIn,
    ...deps,
    parts: signIn,
    current,
    steps,
    findClient,
  });
  const recover = createRecoverPage({ ...deps, mode: signIn.mode, current, steps });
  const mailed = createMailedLinkPages({
    ...deps,
    ...signIn,
    current,
    steps,
    minLength,
    waysBack,
    done,
    findClient,
  });
  const consent = createConsentPage({ ...deps, current, findAccount });
  const onboarding = createOnboardingPage({
    ...deps,
    ...signIn,
    minLength,
    hasAdmin: () => accounts.hasAdmin(),
    createFirstAdmin: (input) => accounts.createFirstAdmin(input),
  });
  const homeRedirects = createHomeRedirects({ ...deps, findAccount });
  const language = createLanguageChoice(deps);
  return {
    current,
    waysBack,
    done,
    findClient,
    steps,
    signup,
    invitation,
    enrolment,
    login,
    ceremonies,
    recover,
    factors,
    mailed,
    consent,
    onboarding,
    homeRedirects,
    language,
  };
}

type Pages = ReturnType<typeof createPages>;

function addRoutes(
  router: ReturnType<typeof createRouter>,
  pages: Pages,
  { readForm, accounts }: Pick<Parts, 'readForm' | 'accounts'>,
): void {
  const { login, consent, signup, invitation, enrolment, factors, ceremonies, recover, mailed } = pages;
  const { done, onboarding, homeRedirects } = pages;
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
  const parts = partsOf(doors);
  const { views, csrf, basePath, registration } = parts;
  const pages = createPages(parts);
  const { waysBack, findClient } = pages;
  const router = createRouter();
  addRoutes(router, pages, parts);
  return {
    middleware: router.middleware,
    sendErrorPage: createSendErrorPage({ views, basePath, waysBack, findClient }),
    logoutPages: createLogoutPages({ views, csrf, waysBack }),
    protocolPages: {
      renderError: createRenderError({ views, basePath, waysBack }),
      devicePages: createDevicePages(parts),
      showFormPost: (ctx, action, fields) =>
        views.send(ctx, 'continue', { action, fields }, { formAction: [action] }),
      showInteraction: createShowInteraction({ ...pages, signUp: registration.signUp }),
    },
  };
}
