// Keeps what was typed on a page of one's own account when the sign-in behind it has ended, was renewed by another tab, or
// must be confirmed first: sealed, for this browser and this account, shown again once and never sent by itself, so that
// nothing happens without a press of the button. The Admin UI has the same in pending-form.ts.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { type Form, readForm } from '../http/index.ts';
import { fillForm, type Typed } from '../views/index.ts';
import { type AccountPage, accountPages, pageAt } from './account-pages.ts';
import type { SelfServiceDoors } from './doors.ts';

/** As long as a user may take on the sign-in page. */
const KEPT_SECONDS = 3600;
const LONGEST_VALUE = 1024;
/** Passwords and codes, and what only its own page may know. */
const NEVER_KEPT = /^(?:csrf|token|pending|code)$|password/;
/** In partials/account-page.njk: says that what was typed is back. */
const NOTICE = ' id="restored"';
const HIDDEN_NOTICE = `${NOTICE} hidden`;

const isTyped = (value: unknown): value is Typed =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

export function createKeptForms({ csrf, oneTime, basePath }: SelfServiceDoors) {
  /** Says whose page the form was on, in this browser; authorizes nothing. */
  const ownerPurpose = (accountId: string): string => `account-form:${accountId}`;
  const keyOf = (browserId: string, accountId: string, page: AccountPage): string[] => [
    'account-form',
    browserId,
    accountId,
    page,
  ];

  function partsOf(form: Form): { session: string; owner: string; accountId: string } {
    const [session = '', owner = '', ...accountId] = (form.get('csrf') ?? '').split('.');
    return { session, owner, accountId: accountId.join('.') };
  }

  async function keep(ctx: Koa.Context, accountId: string, form: Form): Promise<void> {
    const browserId = csrf.existingBrowserId(ctx);
    if (browserId === undefined) return;
    const typed = form
      .keys()
      // One of several alike, such as the name of one passkey: which one cannot be said once the page has changed.
      .filter((name) => !form.has('id') && !NEVER_KEPT.test(name))
      .map((name) => [name, form.get(name) ?? ''] as const)
      .filter(([, value]) => value.length <= LONGEST_VALUE);
    const value = { action: ctx.path, typed: Object.fromEntries(typed) };
    await oneTime.keep(keyOf(browserId, accountId, pageAt(ctx.path)), value, KEPT_SECONDS);
  }

  return {
    keep,

    /** The value of the hidden field: the session's part, then the owner's, which stays valid after the session has ended. */
    token: (ctx: Koa.Context, accountId: string, purpose: string): string =>
      `${csrf.token(ctx, purpose)}.${csrf.token(ctx, ownerPurpose(accountId))}.${accountId}`,

    /** @throws AppError request.csrf, request.cookies_off: also for a form of an earlier session */
    verifyCurrent: (ctx: Koa.Context, purpose: string, token: string | undefined): void =>
      csrf.verify(ctx, purpose, token?.split('.', 1)[0]),

    /**
     * @returns 'earlier': of the same person in this browser, from a session before; it must not be executed
     * @throws AppError request.csrf, request.cookies_off
     */
    verify(ctx: Koa.Context, accountId: string, purpose: string, form: Form): 'current' | 'earlier' {
      const parts = partsOf(form);
      try {
        csrf.verify(ctx, purpose, parts.session);
        return 'current';
      } catch (error) {
        if (parts.accountId !== accountId) throw error;
        csrf.verify(ctx, ownerPurpose(accountId), parts.owner);
        return 'earlier';
      }
    },

    /** Of a form that nobody is signed in for any more. */
    async keepOfNobody(ctx: Koa.Context): Promise<void> {
      try {
        const form = await readForm(ctx);
        const { owner, accountId } = partsOf(form);
        csrf.verify(ctx, ownerPurpose(accountId), owner);
        await keep(ctx, accountId, form);
      } catch (error) {
        // A file, unreadable, or not from a page that this browser was shown: there is nothing to keep.
        if (!(error instanceof AppError) || error.status >= 500) throw error;
      }
    },

    /** A refused form is at the address of its page (page.js), where coming back or a reload sends nothing again. */
    place(ctx: Koa.Context): void {
      if (typeof ctx.body !== 'string' || ctx.status < 400) return;
      const address = `${basePath}${accountPages[pageAt(ctx.path)]}`;
      ctx.body = ctx.body.replace('<html ', () => `<html data-at="${address}" `);
    },

    /** Puts what was kept into the page that has just been rendered. */
    async fill(ctx: Koa.Context, accountId: string, page: AccountPage): Promise<void> {
      const browserId = csrf.existingBrowserId(ctx);
      if (browserId === undefined || typeof ctx.body !== 'string' || !ctx.body.includes(HIDDEN_NOTICE))
        return;
      const kept = await oneTime.take(keyOf(browserId, accountId, page));
      const { action, typed } = { action: '', typed: {}, ...kept };
      if (kept === undefined || !isTyped(typed)) return;
      ctx.body = fillForm(ctx.body.replace(HIDDEN_NOTICE, NOTICE), `${basePath}${action}`, typed);
    },
  };
}
