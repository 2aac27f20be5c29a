// The Admin UI: admission, page dispatch, CSRF protection of every form, and the context that pages receive.
import type Koa from 'koa';
import { accessOfRole, displayNameOf } from '../../accounts/index.ts';
import { AppError } from '../../errors.ts';
import {
  createBackTo,
  createForm,
  createRouter,
  createTold,
  type Form,
  type RouteContext,
  readForm,
  readUpload,
  requestIdOf,
} from '../../http/index.ts';
import { ACR } from '../../model/acr.ts';
import { errorRows } from '../../model/errors/errors.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { TRY_CALLBACK } from '../../oidc/index.ts';
import type { Perform } from '../api/perform.ts';
import type { Route } from '../api/route.ts';
import { actorOf, createCalls } from '../pages/calls.ts';
import type { AdminContext, Page, PageModel } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import { createTryCallback } from '../test-sign-in/callback.ts';
import type { TestSignInRun } from '../test-sign-in/run.ts';
import type { Admissions } from './admission.ts';
import type { createFactorOffer } from './factor-offer.ts';
import { goTo } from './go-to.ts';
import { navigationFor } from './navigation.ts';
import { noticeModel, noticeOf } from './notices.ts';
import { createPageLanguage } from './page-language.ts';
import { adminPages } from './page-list.ts';
import { queryOf } from './page-query.ts';
import { createPendingForms } from './pending-form.ts';
import type { createPreviews } from './previews.ts';
import { problemOf } from './problem.ts';
import { purposeOfPage } from './purpose.ts';
import { createShownOnce } from './shown-once.ts';
import type { createConsoleSignIn } from './sign-in.ts';
import type { createUndo } from './undo.ts';
import type { createViewChoices } from './view-choices.ts';

/** What create.ts puts together. */
export interface ConsoleParts {
  readonly routes: readonly Route[];
  readonly perform: Perform;
  readonly userImports: AdminContext['userImports'];
  readonly admissions: Admissions;
  readonly signIn: ReturnType<typeof createConsoleSignIn>;
  readonly testSignIn: TestSignInRun;
  readonly factorOffer: ReturnType<typeof createFactorOffer>;
  readonly viewChoices: ReturnType<typeof createViewChoices>;
  readonly undo: ReturnType<typeof createUndo>;
  readonly previews: ReturnType<typeof createPreviews>;
}

async function hasUsers({ accounts }: ProtocolDoors): Promise<boolean> {
  if (await accounts.hasAdmin()) return true;
  // By ADMIN_TOKEN there can be users, auditors among them, before there is an administrator.
  const any = { sort: 'id', order: 'asc', limit: 1, isCounted: false } as const;
  return (await accounts.query(any)).items.length > 0;
}

export function adminConsole(doors: ProtocolDoors, parts: ConsoleParts): Koa.Middleware {
  const { views, csrf, clock, basePath, events } = doors;
  const { routes, admissions, signIn } = parts;
  const idleSeconds = () => doors.settings().admin_idle_seconds;
  const home = `${basePath}/admin`;
  const backTo = createBackTo(doors.baseUrl);
  const hereOf = (ctx: Koa.Context): string => `${basePath}${ctx.path}${ctx.search}`;
  const told = createTold(doors);
  const forms = createPendingForms(doors, adminPages, told);
  const shown = createShownOnce(doors);
  const calls = createCalls(routes, parts.perform);
  const languages = createPageLanguage(doors);
  function show(
    ctx: Koa.Context,
    who: SignedInAdmin,
    template: string,
    model: PageModel,
    status = 200,
  ): void {
    const done = told.read(ctx, ctx.query.done);
    const language = languages.of(ctx, who);
    const frame = {
      ...languages.formatsIn(language),
      ...languages.choiceOf(ctx, who),
      navigation: navigationFor(who.access),
      canChange: who.access === 'all',
      home,
      baseUrl: doors.baseUrl,
      issuer: doors.issuer,
      account: { ...who.account, name: displayNameOf(who.account.profile) ?? who.account.username },
      csrf: forms.token(ctx, who),
      crumbs: [],
      ...noticeModel(forms.noticeOf(ctx), noticeOf(done)),
      undo: parts.undo.of(ctx, who, done),
      alert: undefined,
      errors: {},
      searchText: '',
      factorOffer: parts.factorOffer.of(ctx, who),
    };
    const { hasFrames } = model;
    views.send(ctx, `admin/${template}`, { ...frame, ...model }, { status, language, hasFrames });
    if (status === 200) forms.fill(ctx);
  }

  function contextOf(ctx: RouteContext, who: SignedInAdmin, form: Form): AdminContext {
    return {
      ctx,
      admin: who,
      form,
      params: ctx.params,
      query: queryOf(ctx),
      now: clock(),
      routes,
      apiUrl: `${doors.baseUrl}/admin/api`,
      server: { issuer: doors.issuer, baseUrl: doors.baseUrl },
      canChange: who.access === 'all',
      call: (handle, input) => calls.call(who, handle, input),
      callLines: (handle, text) => calls.callLines(who, handle, text),
      record: events.record,
      userImports: parts.userImports,
      show: (template, model, status) => show(ctx, who, template, model, status),
      async startTestSignIn(clientId, parameters) {
        const query = await parts.testSignIn.begin(ctx, who, clientId, parameters);
        goTo(ctx, `${basePath}/oauth2/authorize?${query}`);
      },
      async goOnce(path, data) {
        const url = await shown.keep(who, `${home}${path}`, data);
        if (url !== undefined) goTo(ctx, url);
        return url !== undefined;
      },
      once: () => shown.take(ctx, who),
      addFactor: () =>
        signIn.start(ctx, home, {
          maxAgeSeconds: idleSeconds(),
          acr: ACR.multiFactor,
          isAcrDemanded: true,
        }),
      putOffFactor: () => parts.factorOffer.putOff(ctx, who),
      previews: parts.previews(ctx, who),
      choices: parts.viewChoices.read(ctx, who),
      keepChoices: (changes) => parts.viewChoices.change(ctx, who, changes),
      go(path, done, undo) {
        if (done !== undefined && undo !== undefined)
          parts.undo.offer(ctx, who, { at: `/admin${path}`, done }, undo);
        const page = `/admin${path}`;
        goTo(ctx, `${basePath}${done === undefined ? page : told.addressOf(ctx, page, 'done', done)}`);
      },
    };
  }

  /** API errors that the page does not handle itself. */
  function showProblem(ctx: Koa.Context, who: SignedInAdmin, error: unknown): void {
    const { status, model } = problemOf(error);
    show(ctx, who, 'problem', model, status);
  }

  const router = createRouter({ prefix: '/admin', isStrict: false });
  for (const page of adminPages) {
    router.on(page.method, page.path === '' ? '/' : page.path, async (context) => {
      const who: SignedInAdmin = context.state.admin;
      const isPost = page.method === 'POST';
      const hasFile = isPost && context.is('multipart/form-data') !== false;
      const uploaded = page.file && hasFile ? await readUpload(context, page.file) : undefined;
      const form =
        uploaded?.form ?? (isPost ? await readForm(context, { limitBytes: page.formBytes }) : createForm(''));
      // A form opened under an earlier sign-in of the same user is shown again with its values.
      if (isPost && forms.verify(context, who, form) === 'earlier')
        return goTo(context, backTo(await forms.keep(context, page, who.account.id, form), home));
      if (isPost || page.needs === 'admin') {
        // Each API call checks this again; here it comes before the form is read.
        if (who.access !== 'all') return showProblem(context, who, new AppError('auth.insufficient_scope'));
      }
      // Before a form is filled in, where every submission is sensitive; the route decides about the act (api/perform.ts).
      if (page.isSensitive === true && !who.isFresh) return signInAgain(context, who, page, form);
      if (!isPost) await forms.recall(context, page, who);
      try {
        await page.handle({ ...contextOf(context, who, form), file: uploaded?.file });
      } catch (error) {
        if (error instanceof AppError && error.code === 'auth.stale')
          return signInAgain(context, who, page, form);
        showProblem(context, who, error);
      }
    });
  }
  /** Offers the only remedy: signing in as another user. */
  function refuse(ctx: Koa.Context): void {
    const reason = 'auth.insufficient_scope';
    const { status, message } = errorRows[reason];
    const backUrl = `${doors.baseUrl}/oauth2/logout`;
    const requestId = requestIdOf(ctx);
    views.send(ctx, 'error', {
      status,
      message,
      reason,
      requestId,
      backUrl,
      backLabel: { key: 'action.sign_out' },
    });
  }

  const needsOf = ({ strongestAcr }: Pick<SignedInAdmin, 'strongestAcr'>) =>
    strongestAcr === undefined ? {} : { acr: strongestAcr };

  /** A sensitive act with a stale sign-in: reauthenticate as strongly as the account allows, then return. */
  async function signInAgain(ctx: Koa.Context, who: SignedInAdmin, page: Page, form: Form): Promise<void> {
    const returnTo = page.method === 'POST' ? await forms.keep(ctx, page, who.account.id, form) : hereOf(ctx);
    signIn.start(ctx, returnTo, {
      ...needsOf(who),
      isFresh: true,
      maxAgeSeconds: idleSeconds(),
      purpose: purposeOfPage(page, ctx.path),
    });
  }

  async function beginSignIn(ctx: Koa.Context): Promise<void> {
    const user = await admissions.signedIn(ctx);
    if (user !== undefined && accessOfRole(user.account.role) === undefined) return refuse(ctx);
    // Before onboarding no user exists who could sign in here.
    if (user === undefined && !(await hasUsers(doors))) return goTo(ctx, `${basePath}/onboard`);
    const returnTo = ctx.method === 'POST' ? await forms.keepOfNobody(ctx) : hereOf(ctx);
    // A user who has no second factor that meets the requirement sets one up.
    const needs =
      user === undefined || user.hasUsedFactors
        ? {}
        : { acr: ACR.multiFactor, isAcrDemanded: user.strongestAcr !== ACR.multiFactor };
    return signIn.start(ctx, returnTo, { ...needs, maxAgeSeconds: idleSeconds() });
  }

  /**
   * The browser does not send a SameSite=Strict cookie with a link from another site; a page of ours that repeats the
   * request does (R114: SameSite=Strict for administrators).
   */
  function comeAgain(ctx: Koa.Context, asked: string): void {
    views.send(ctx, 'admin/again', { target: backTo(asked, home) }, { language: languages.of(ctx) });
  }

  async function comeBack(ctx: Koa.Context): Promise<void> {
    const outcome = await signIn.finish(ctx);
    let target = home;
    if (outcome === 'unknown') {
      if (csrf.existingBrowserId(ctx) === undefined) throw new AppError('request.cookies_off');
    } else if (outcome.subject === undefined) {
      // By a button, so that cancelling causes no redirect loop. The page that asked keeps what was typed.
      return views.send(ctx, 'signed-out', { continueUrl: backTo(outcome.returnTo, home) });
    } else if (await admissions.admit(ctx, outcome.subject)) target = outcome.returnTo;
    if (ctx.get('Sec-Fetch-Site') === 'cross-site') return comeAgain(ctx, target);
    goTo(ctx, backTo(target, home));
  }

  const finishTestSignIn = createTryCallback(doors, parts.testSignIn, async (ctx, model, status) => {
    const who = await admissions.current(ctx);
    await languages.learn(ctx, who);
    const frame = { title: '', here: 'applications', ...model };
    if (who?.access === 'all') return show(ctx, who, 'try-outcome', frame, status);
    const language = languages.of(ctx);
    const bare = { ...languages.formatsIn(language), home, account: undefined, ...noticeModel() };
    return views.send(ctx, 'admin/try-outcome', { ...bare, ...frame }, { status, language });
  });

  const callbacks = createRouter();
  callbacks.get('/admin/callback', comeBack);
  callbacks.get(TRY_CALLBACK, finishTestSignIn);

  const background = new Set(
    adminPages.filter((page) => page.isBackground === true).map(({ path }) => `/admin${path}`),
  );

  async function showPage(ctx: Koa.Context): Promise<void> {
    const isBackground = background.has(ctx.path);
    const who = await admissions.current(ctx, { isActivity: !isBackground });
    if (who === undefined) {
      if (isBackground) return void Object.assign(ctx, { status: 401, body: '' });
      const isFromElsewhere = ctx.get('Sec-Fetch-Site') === 'cross-site' && ctx.method === 'GET';
      return isFromElsewhere ? comeAgain(ctx, hereOf(ctx)) : beginSignIn(ctx);
    }
    if (who.access === undefined) return refuse(ctx);
    events.origins.setActor(actorOf(who));
    ctx.state.admin = who;
    await languages.learn(ctx, who);
    return router.middleware(ctx, async () => {
      showProblem(ctx, who, new AppError('request.not_found'));
    });
  }

  return async (ctx, next) => {
    if (!router.isBelow(ctx)) return next();
    ctx.set('Cache-Control', 'no-store');
    if (!['GET', 'HEAD', 'POST'].includes(ctx.method)) throw new AppError('request.method_not_allowed');
    await languages.learn(ctx);
    return callbacks.middleware(ctx, () => showPage(ctx));
  };
}
