// Owns what all of people's own pages share: who is there, forms that are good for this session alone, and that what
// matters is done only by somebody who has just proven who they are (decisions §7, checklist R098, R113).
import type Koa from 'koa';
import type { Account } from '../accounts/account.ts';
import type { MethodTimes } from '../accounts/freshness.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Csrf } from '../http/csrf.ts';
import type { Form } from '../http/form.ts';
import type { OneTime } from '../http/one-time.ts';
import { newSecret } from '../ids.ts';
import type { Views } from '../views/views.ts';
import { type OwnPage, ownPages } from './sign-in-url.ts';

export interface SignedIn<A> {
  readonly sessionUid: string;
  readonly account: A;
  /** Whether it may change how the account is signed in to. */
  readonly isFresh: boolean;
}

export interface Visitor extends SignedIn<Account> {
  /** Epoch seconds. */
  readonly signedInAt: number;
  /** What the sign-in was, and what it was worth (RFC 8176; src/oidc/scopes.ts). */
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** When each method was authenticated. */
  readonly methodTimes: MethodTimes;
  /** Not an application with a bearer, which has no cookie to be renewed. */
  readonly isBrowser: boolean;
}

export interface VisitDeps {
  readonly views: Views;
  readonly csrf: Csrf;
  readonly oneTime: OneTime;
  readonly basePath: string;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  /** To prove once more who it is, as strongly as the account can. */
  readonly confirmUrl: (account: Account, page: OwnPage) => string;
}

/** What went wrong with an act, as the page says it. */
export interface Problem {
  readonly alert: string;
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

export type Alerts = { readonly [Code in ErrorCode]?: string };

interface Change {
  readonly page: OwnPage;
  /** What the form's token is bound to beside the session. */
  readonly about?: (form: Form) => string;
  /** Default: the sign-in must be fresh. */
  readonly isAllowed?: boolean;
  /** What a person can be told on the page. */
  readonly alerts: Alerts;
  /** @returns what to say about it on the page that comes; undefined where it has answered itself */
  readonly act: (form: Form) => Promise<string | undefined>;
  readonly showAgain: (problem: Problem) => Promise<void>;
}

const SHOWN_SECONDS = 300;

export type Visit = ReturnType<typeof createVisit>;

export function createVisit({ views, csrf, oneTime, basePath, readForm, confirmUrl }: VisitDeps) {
  const purposeOf = ({ sessionUid }: Visitor, about: string): string =>
    about === '' ? `account:${sessionUid}` : `account:${sessionUid}:${about}`;

  function goTo(ctx: Koa.Context, url: string): void {
    ctx.status = 303;
    ctx.redirect(url);
  }

  // Not by the session: turning a second factor on renews it.
  const onceKey = (ctx: Koa.Context, { account }: Visitor, handle: string): string[] => [
    'account',
    csrf.browserId(ctx),
    account.id,
    handle,
  ];

  return {
    views,
    goTo,

    /** 303 to a page that takes `data` by `once` and shows it: for minutes, one time, to this person in this browser. */
    async goOnce(ctx: Koa.Context, who: Visitor, path: string, data: object): Promise<void> {
      const handle = newSecret(16);
      await oneTime.keep(onceKey(ctx, who, handle), data, SHOWN_SECONDS);
      goTo(ctx, `${basePath}${path}?shown=${handle}`);
    },
    async once(ctx: Koa.Context, who: Visitor): Promise<object | undefined> {
      const { shown } = ctx.query;
      if (typeof shown !== 'string' || ctx.method !== 'GET') return undefined;
      return oneTime.take(onceKey(ctx, who, shown));
    },
    token: (ctx: Koa.Context, who: Visitor, about = ''): string => csrf.token(ctx, purposeOf(who, about)),
    confirmUrlOf: (who: Visitor, page: OwnPage): string | undefined =>
      who.isFresh ? undefined : confirmUrl(who.account, page),
    confirm: (ctx: Koa.Context, who: Visitor, page: OwnPage): void =>
      goTo(ctx, confirmUrl(who.account, page)),
    urlOf: (page: OwnPage): string => `${basePath}${ownPages[page]}`,

    async change(ctx: Koa.Context, who: Visitor, change: Change): Promise<void> {
      const form = await readForm(ctx);
      csrf.verify(ctx, purposeOf(who, change.about?.(form) ?? ''), form.get('csrf'));
      if (!(change.isAllowed ?? who.isFresh)) return goTo(ctx, confirmUrl(who.account, change.page));
      let notice: string | undefined;
      try {
        notice = await change.act(form);
      } catch (error) {
        const alert = error instanceof AppError ? change.alerts[error.code] : undefined;
        if (!(error instanceof AppError) || alert === undefined) throw error;
        const { status, retryAfterSeconds } = error;
        return change.showAgain({ alert, status, retryAfterSeconds });
      }
      if (notice !== undefined) goTo(ctx, `${basePath}${ownPages[change.page]}?notice=${notice}`);
    },
  };
}

/** @returns the notice that the address asks for, if it is one of the page's own */
export const noticeOf = <N extends string>(ctx: Koa.Context, notices: readonly N[]): N | undefined =>
  notices.find((name) => name === ctx.query.notice);
