// Keeps a form of the Admin UI that a sign-in interrupts: an idle administrator submits a long form, or an act requires
// reauthentication. The values are kept sealed, for this browser and this account, and shown again afterwards; they are
// never submitted automatically, so that nothing happens without a press of the button.
import type Koa from 'koa';
import { AppError } from '../../errors.ts';
import type { Form, Told } from '../../http/index.ts';
import { readForm } from '../../http/index.ts';
import { isSecretSetting, isSettingKey } from '../../model/settings/settings.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { fillForm, type Typed } from '../../views/index.ts';
import type { Page } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';

/** In the address of the page that shows the form again; says that there is a kept form, not which. */
export const FILLED = 'filled';

/** As long as a user may take on the sign-in page. */
const KEPT_SECONDS = 3600;
/** Longer: who comes back later is told that it is gone. */
const LOST_SECONDS = 24 * 3600;
/** Limit of one field; the body limit and one-time.ts bound the form as a whole. */
const LONGEST_VALUE = 32 * 1024;

const RESTORED =
  'Back from the sign-in page: what you had typed is back, without passwords and secrets. Nothing was done yet: look it over and send it again.';
const PRESSED = 'Back from the sign-in page. Nothing was done yet: choose it once more.';
const LOST =
  'Back from the sign-in page. What you sent before was not done and could not be kept: please fill it in once more.';

/** Not kept: passwords and secrets, pasted files that may hold some, and the CSRF token of the form. */
const NEVER_KEPT = /^(?:csrf|rows|json|token)$|(?:^|_)(?:password|secret|passphrase|hash|code|key)$/i;
const isKept = (name: string): boolean =>
  isSettingKey(name) ? !isSecretSetting(name) : !NEVER_KEPT.test(name);

const isTyped = (value: unknown): value is Typed =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

const patternOf = (path: string): RegExp => new RegExp(`^/admin${path.replace(/:\w+/g, '[^/]+')}$`);

export function createPendingForms(
  { csrf, oneTime, basePath }: ProtocolDoors,
  pages: readonly Page[],
  told: Told,
) {
  const matched = pages.map((page) => ({ page, pattern: patternOf(page.path) }));
  const find = (method: Page['method'], path: string): Page | undefined =>
    matched.find(({ page, pattern }) => page.method === method && pattern.test(path))?.page;

  /** Declared with the same parameters, filled in as the request has them. */
  function pathLike(declared: string, page: Page, path: string): string {
    const given = path.split('/').slice(2);
    const names = page.path.split('/').slice(1);
    return `/admin${declared.replace(/:\w+/g, (name) => given[names.indexOf(name)] ?? name)}`;
  }

  /** Where the form of a POST is: the page's declared address, its own address, or the nearest page above it. */
  function placeOf(page: Page, path: string): { path: string; action: string } {
    if (page.formOn !== undefined) {
      const { path: on, action = page.path } = page.formOn;
      return { path: pathLike(on, page, path), action: pathLike(action, page, path) };
    }
    for (let above = path; above.length > 1; above = above.slice(0, above.lastIndexOf('/')))
      if (find('GET', above) !== undefined) return { path: above, action: path };
    return { path: '/admin', action: path };
  }

  const sessionPurpose = ({ sessionUid }: Pick<SignedInAdmin, 'sessionUid'>): string => `admin:${sessionUid}`;
  /** Identifies whose page the form was on, in this browser; authorizes nothing. */
  const ownerPurpose = (accountId: string): string => `admin-form:${accountId}`;

  /** The hidden field: the session's token, then the owner part, which stays valid after the session ends. */
  function partsOf(form: Form): { session: string; owner: string; accountId: string } {
    const [session = '', owner = '', ...accountId] = (form.get('csrf') ?? '').split('.');
    return { session, owner, accountId: accountId.join('.') };
  }

  /** One kept form per page, so that a browser cannot fill the store. */
  function keyOf(ctx: Koa.Context, accountId: string, path: string): string[] | undefined {
    const browserId = csrf.existingBrowserId(ctx);
    const page = find('GET', path);
    return browserId && page ? ['form', browserId, accountId, page.path] : undefined;
  }

  /** That what was sent is lost is told to who sent it, not to who follows a link. */
  const addressOf = (ctx: Koa.Context, path: string): string =>
    `${basePath}${told.addressOf(ctx, path, FILLED, FILLED, LOST_SECONDS)}`;

  async function keep(ctx: Koa.Context, page: Page, accountId: string, form: Form): Promise<string> {
    const { path, action } = placeOf(page, ctx.path);
    const names = form.keys().filter(isKept);
    const typed = Object.fromEntries(
      names
        .map((name) => [name, form.get(name) ?? ''])
        .filter(([, value = '']) => value.length <= LONGEST_VALUE),
    );
    const key = keyOf(ctx, accountId, path);
    if (key) await oneTime.keep(key, { path, action, typed }, KEPT_SECONDS);
    return addressOf(ctx, path);
  }

  return {
    /** The value of the hidden field in every form. */
    token(ctx: Koa.Context, who: SignedInAdmin): string {
      const { id } = who.account;
      return `${csrf.token(ctx, sessionPurpose(who))}.${csrf.token(ctx, ownerPurpose(id))}.${id}`;
    },

    /**
     * @returns 'earlier' for a form of the same user in this browser whose session has ended: it must not be executed
     * @throws AppError request.csrf, request.cookies_off
     */
    verify(ctx: Koa.Context, who: SignedInAdmin, form: Form): 'current' | 'earlier' {
      const { session, owner, accountId } = partsOf(form);
      try {
        csrf.verify(ctx, sessionPurpose(who), session);
        return 'current';
      } catch (error) {
        if (accountId !== who.account.id) throw error;
        csrf.verify(ctx, ownerPurpose(accountId), owner);
        return 'earlier';
      }
    },

    /** @returns path and query of the page that shows the form again */
    keep,

    /** The same when no user is signed in any more. @returns the address to return to after the sign-in */
    async keepOfNobody(ctx: Koa.Context): Promise<string> {
      const page = find('POST', ctx.path);
      if (page === undefined) return `${basePath}/admin`;
      try {
        const form = await readForm(ctx);
        const { owner, accountId } = partsOf(form);
        csrf.verify(ctx, ownerPurpose(accountId), owner);
        return await keep(ctx, page, accountId, form);
      } catch (error) {
        // Too large, unreadable, or not from a page that this browser was shown: there is nothing to restore.
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        return addressOf(ctx, placeOf(page, ctx.path).path);
      }
    },

    /** Takes the kept form of this page, if the address says that there is one. */
    async recall(ctx: Koa.Context, page: Page, who: SignedInAdmin): Promise<void> {
      if (ctx.query[FILLED] === undefined || ctx.method !== 'GET') return;
      const browserId = csrf.existingBrowserId(ctx);
      const kept = browserId && (await oneTime.take(['form', browserId, who.account.id, page.path]));
      const { path, action, typed } = { path: '', action: '', typed: {}, ...(kept || {}) };
      const isHere = path === ctx.path && isTyped(typed);
      if (isHere) ctx.state.filled = { action: `${basePath}${action}`, typed };
      else if (told.read(ctx, ctx.query[FILLED]) === FILLED) ctx.state.filled = 'lost';
    },

    /** The notice above a page that shows a kept form again. */
    noticeOf({ state: { filled } }: Koa.Context): string | undefined {
      if (filled === undefined) return undefined;
      if (filled === 'lost') return LOST;
      return Object.keys(filled.typed).length === 0 ? PRESSED : RESTORED;
    },

    /** Restores the kept values on the rendered page. */
    fill(ctx: Koa.Context): void {
      const { filled } = ctx.state;
      if (filled === undefined || filled === 'lost' || typeof ctx.body !== 'string') return;
      ctx.body = fillForm(ctx.body, filled.action, filled.typed);
    },
  };
}
