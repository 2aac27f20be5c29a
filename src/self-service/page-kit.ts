// Shared by the self-service pages: forms bound to one session, fresh authentication before sensitive actions
// (decision 0011), and results that are shown once.
import type Koa from 'koa';
import { type Account, displayNameOf } from '../accounts/index.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import { createTold, type Form, readForm } from '../http/index.ts';
import { newSecret } from '../ids.ts';
import { ACCOUNT_PAGE_ACTS, type ActSensitivity, actIn } from '../model/acts.ts';
import { consoleSignInUrl, type SignedInUser } from '../oidc/index.ts';
import type { PlaceOf } from '../places/index.ts';
import type { SendOptions } from '../views/index.ts';
import { type AccountPage, accountPages, pageAt } from './account-pages.ts';
import type { SelfServiceDoors } from './doors.ts';
import { createKeptForms } from './kept-forms.ts';

export interface SelfServiceUser extends SignedInUser {
  /** False for an application with an access token, which has no cookie to renew. */
  readonly isBrowser: boolean;
}

/** The message about a failed action. */
export interface Problem {
  readonly alert: string;
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

export type Alerts = { readonly [Code in ErrorCode]?: string };

interface Change {
  readonly page: AccountPage;
  /** Where it has been read already. */
  readonly form?: Form;
  /** What the form's token is bound to, in addition to the session. */
  readonly about?: (form: Form) => string;
  /** Where the current password, which the act asks for, may be the fresh authentication: whether it is. */
  readonly isPasswordEnough?: boolean;
  /** The errors that the page displays. */
  readonly alerts: Alerts;
  /** @returns the notice for the next page; undefined if it has already responded */
  readonly act: (form: Form) => Promise<string | undefined>;
  readonly showAgain: (problem: Problem) => Promise<void>;
}

const SHOWN_SECONDS = 300;

/** By the table of all acts; what is not in it is sensitive. */
function mayBeStale(path: string, { isPasswordEnough = false }: Change): boolean {
  const act: ActSensitivity | 'by_password' | 'by_link' =
    actIn<ActSensitivity | 'by_password' | 'by_link'>(ACCOUNT_PAGE_ACTS, path) ?? 'sensitive';
  return act === 'by_password' ? isPasswordEnough : act !== 'sensitive';
}

export type PageKit = ReturnType<typeof createPageKit>;

export function createPageKit(doors: SelfServiceDoors) {
  const { views, csrf, oneTime, basePath, signedIn, events } = doors;
  const forms = createKeptForms(doors);
  const told = createTold(doors);
  /** Where to authenticate again, with the strongest class that the account can reach. */
  const confirmUrl = (account: Account, page: AccountPage): string =>
    consoleSignInUrl({ ...doors, page, isFresh: true, acr: signedIn.strongestAcr(account) });
  const purposeOf = ({ sessionUid }: SelfServiceUser, about: string): string =>
    about === '' ? `account:${sessionUid}` : `account:${sessionUid}:${about}`;

  function goTo(ctx: Koa.Context, url: string): void {
    ctx.status = 303;
    ctx.redirect(url);
  }

  // Not bound to the session, because enabling a second factor renews it.
  const onceKey = (ctx: Koa.Context, { account }: SelfServiceUser, handle: string): string[] => [
    'account',
    csrf.browserId(ctx),
    account.id,
    handle,
  ];

  /** To a page that says what was done (http/told.ts). */
  function goToldTo(ctx: Koa.Context, page: AccountPage, notice: string): void {
    goTo(ctx, `${basePath}${told.addressOf(ctx, accountPages[page], 'notice', notice)}`);
  }

  return {
    views,
    forms,
    basePath,
    confirmUrl,
    /** Events of this request have the user as their actor. */
    async signedIn(ctx: Koa.Context): Promise<SelfServiceUser | undefined> {
      const user = await signedIn.ofBrowser(ctx);
      if (user !== undefined) events.origins.setActor({ kind: 'user', id: user.account.id });
      return user && { ...user, isBrowser: true };
    },
    signInUrl: (page: AccountPage): string => consoleSignInUrl({ ...doors, page }),
    goTo,
    goToldTo,
    told,
    /** @returns what was done, if the page has a notice of that name */
    noticeOf<N extends string>(ctx: Koa.Context, notices: readonly N[]): N | undefined {
      const what = told.read(ctx, ctx.query.notice);
      return notices.find((name) => name === what);
    },

    /**
     * Redirects (303) to a page that reads `data` with `once`: a single time within minutes, for this user in this
     * browser.
     */
    async goOnce(ctx: Koa.Context, who: SelfServiceUser, path: string, data: object): Promise<void> {
      const handle = newSecret(16);
      await oneTime.keep(onceKey(ctx, who, handle), data, SHOWN_SECONDS);
      goTo(ctx, `${basePath}${path}?shown=${handle}`);
    },
    async once(ctx: Koa.Context, who: SelfServiceUser): Promise<object | undefined> {
      const { shown } = ctx.query;
      if (typeof shown !== 'string' || ctx.method !== 'GET') return undefined;
      return oneTime.take(onceKey(ctx, who, shown));
    },
    /** For what happens before a sign-in and goes on after it: once, in this browser, whoever signs in. */
    keepInBrowser: (ctx: Koa.Context, what: string, data: object, seconds: number): Promise<boolean> =>
      oneTime.keep(['account', csrf.browserId(ctx), what], data, seconds),
    takeInBrowser: (ctx: Koa.Context, what: string): Promise<object | undefined> =>
      oneTime.take(['account', csrf.browserId(ctx), what]),

    /** For forms of people who are not signed in: bound to the browser and to what they are about. */
    publicToken: (ctx: Koa.Context, about: string): string => csrf.token(ctx, `account-public:${about}`),
    async readPublic(ctx: Koa.Context, aboutOf: (form: Form) => string): Promise<Form> {
      const form = await readForm(ctx);
      csrf.verify(ctx, `account-public:${aboutOf(form)}`, form.get('csrf'));
      return form;
    },

    token: (ctx: Koa.Context, who: SelfServiceUser, about = ''): string =>
      forms.token(ctx, who.account.id, purposeOf(who, about)),
    confirmUrlOf: (who: SelfServiceUser, page: AccountPage): string | undefined =>
      who.isFresh ? undefined : confirmUrl(who.account, page),
    confirm: (ctx: Koa.Context, who: SelfServiceUser, page: AccountPage): void =>
      goTo(ctx, confirmUrl(who.account, page)),
    urlOf: (page: AccountPage): string => `${basePath}${accountPages[page]}`,

    async change(ctx: Koa.Context, who: SelfServiceUser, change: Change): Promise<void> {
      const form = change.form ?? (await readForm(ctx));
      const { account } = who;
      // What is about one thing, such as a mailed link, is good in its own session alone.
      if (change.about !== undefined)
        forms.verifyCurrent(ctx, purposeOf(who, change.about(form)), form.get('csrf'));
      else if (forms.verify(ctx, account.id, purposeOf(who, ''), form) === 'earlier') {
        await forms.keep(ctx, account.id, form);
        return goTo(ctx, `${basePath}${accountPages[pageAt(ctx.path)]}`);
      }
      if (!(who.isFresh || mayBeStale(ctx.path, change))) {
        await forms.keep(ctx, account.id, form);
        return goTo(ctx, confirmUrl(account, change.page));
      }
      let notice: string | undefined;
      try {
        notice = await change.act(form);
      } catch (error) {
        const alert = error instanceof AppError ? change.alerts[error.code] : undefined;
        if (!(error instanceof AppError) || alert === undefined) throw error;
        const { status, retryAfterSeconds } = error;
        return change.showAgain({ alert, status, retryAfterSeconds });
      }
      if (notice !== undefined) goToldTo(ctx, change.page, notice);
    },
  };
}

/** Whose page it is. */
export const ownerOf = ({ account }: Pick<SelfServiceUser, 'account'>) => ({
  username: account.username,
  name: displayNameOf(account.profile),
  avatarId: account.avatarId,
});

/** In the language that the owner chose, if pages exist in it. */
export const looksOf = ({ account }: Pick<SelfServiceUser, 'account'>, status = 200): SendOptions => ({
  status,
  language: account.profile.locale,
});

/** Where an address is, in the owner's language. */
export const placeIn =
  (words: PlaceOf) =>
  ({ account }: Pick<SelfServiceUser, 'account'>, ipAddress: string | undefined): string | null =>
    (ipAddress && words(ipAddress, account.profile.locale ?? 'en')) || null;
