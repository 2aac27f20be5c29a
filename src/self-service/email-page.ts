// /account/email: the addresses of an account, of which one is primary (src/recovery/email-changes.ts). The link to a new
// address counts for who is signed in; the one to the primary address needs nobody signed in, and signs nobody in.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { memberOf } from '../json.ts';
import type { FieldErrors, PageModels } from '../views/index.ts';
import type { Acts } from './acts.ts';
import {
  type Alerts,
  looksOf,
  ownerOf,
  type PageKit,
  type Problem,
  type SelfServiceUser,
} from './page-kit.ts';

type Model = PageModels['account-email'];

const NOTICES = [
  'sent',
  'kept',
  'added',
  'primary',
  'removed',
  'withdrawn',
] as const satisfies readonly Model['notice'][];

const ALERTS: Alerts = {
  'request.rate_limited': 'alert.rate_limited',
  'account.email_frozen': 'alert.email_frozen',
  'account.email_taken': 'invalid.email_taken',
  'account.email_domain': 'invalid.email_domain',
  'account.too_many_emails': 'alert.too_many_emails',
  'account.changed': 'alert.account_changed',
  'request.not_found': 'alert.email_gone',
  'mail.off': 'alert.mail_off',
};

const MAX_ADDRESS = 320;
/** For which the token of a link outlives the sign-in that it leads to. */
const LINK_SECONDS = 1800;

interface Shown extends Partial<Problem> {
  readonly errors?: FieldErrors;
  readonly email?: string;
}

const tokenOf = (ctx: Koa.Context): string => (typeof ctx.query.token === 'string' ? ctx.query.token : '');

export function createEmailPage(kit: PageKit, { email: emails, now }: Acts) {
  const { views } = kit;

  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, retryAfterSeconds, status } = shown;
    const { account } = who;
    const { stopped, ...state } = await emails.stateOf(account);
    const waiting = stopped && { ...stopped, keepWaits: stopped.keepFrom > now() };
    views.send(
      ctx,
      'account-email',
      {
        csrf: kit.token(ctx, who),
        account: ownerOf(who),
        email: account.email,
        isVerified: account.email !== undefined && account.isEmailVerified,
        ...state,
        stopped: waiting,
        values: { email: shown.email ?? '' },
        confirmUrl: kit.confirmUrlOf(who, 'email'),
        notice: kit.noticeOf(ctx, NOTICES),
        errors,
        alert: alert === undefined ? undefined : { key: alert },
        retryAfterSeconds,
      },
      looksOf(who, status ?? (Object.keys(errors).length > 0 ? 400 : 200)),
    );
  }

  const sendExpired = (ctx: Koa.Context): void =>
    views.send(ctx, 'link-expired', { newLinkUrl: kit.urlOf('email') }, { status: 410 });

  const act =
    (run: (ctx: Koa.Context, who: SelfServiceUser, address: string) => Promise<Model['notice']>) =>
    (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'email',
        alerts: ALERTS,
        act: (form) => run(ctx, who, form.get('id') ?? ''),
        showAgain: (problem) => show(ctx, who, problem),
      });

  return {
    makePrimary: act(async (ctx, who, address) => {
      await emails.makePrimary(ctx, who, address);
      return 'primary';
    }),
    remove: act(async (ctx, who, address) =>
      (await emails.remove(ctx, who, address)) ? 'removed' : 'withdrawn',
    ),

    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      let email = '';
      await kit.change(ctx, who, {
        page: 'email',
        alerts: ALERTS,
        async act(form) {
          // `id`: once more to one that waits.
          email = (form.get('email') ?? form.get('id') ?? '').slice(0, MAX_ADDRESS);
          try {
            await emails.request(who.account, email);
            return 'sent';
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            const isDomain = error.code === 'account.email_domain';
            if (!isDomain && error.fields === undefined) throw error;
            const problem = isDomain ? 'invalid.email_domain' : 'invalid.email_new';
            await show(ctx, who, { errors: { email: problem }, email });
            return undefined;
          }
        },
        showAgain: (problem) => show(ctx, who, { ...problem, email }),
      });
    },

    settle: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'email',
        alerts: {
          ...ALERTS,
          'request.not_found': 'alert.email_settled',
          'account.email_keep_waits': 'alert.email_keep_waits',
          'auth.stale': 'alert.email_keep_stale',
        },
        async act(form) {
          const choice = form.get('id') === 'undo' ? 'undo' : 'keep';
          await emails.settle(who, choice);
          if (choice === 'keep') return 'kept';
          views.send(ctx, 'account-email-done', { what: 'undone' }, looksOf(who));
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      }),

    /** The link of the mail to the new address, for who is signed in; it waits for a sign-in. */
    confirmation: {
      async signedOut(ctx: Koa.Context): Promise<void> {
        const token = tokenOf(ctx);
        // Nothing but a link that counts: what anyone writes into the address would fill the store.
        if ((await emails.find(token, 'confirm')) === undefined || !(await emails.mayKeep(ctx.ip))) return;
        await kit.keepInBrowser(ctx, 'email-change', { token }, LINK_SECONDS);
      },

      async show(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
        const kept = memberOf(await kit.takeInBrowser(ctx, 'email-change'), 'token');
        const token = tokenOf(ctx) || (typeof kept === 'string' ? kept : '');
        const link = await emails.find(token, 'confirm');
        // The same for a link of another account: this one learns nothing about it.
        if (link?.accountId !== who.account.id) return sendExpired(ctx);
        const model = { csrf: kit.token(ctx, who, token), token, owner: ownerOf(who), ...link };
        views.send(ctx, 'account-email-confirm', model, looksOf(who));
      },

      submit: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
        kit.change(ctx, who, {
          page: 'email',
          about: (form) => form.get('token') ?? '',
          alerts: ALERTS,
          async act(form) {
            const outcome = await emails.confirm(who, form.get('token') ?? '');
            if (outcome === 'added') return 'added';
            if (outcome === 'moved') views.send(ctx, 'account-email-done', { what: 'changed' }, looksOf(who));
            else sendExpired(ctx);
            return undefined;
          },
          showAgain: (problem) => show(ctx, who, problem),
        }),
    },

    /** The link of the mail to the old address, for anyone who has it. Opening it does nothing: scanners do. */
    stop: {
      async show(ctx: Koa.Context): Promise<void> {
        const token = tokenOf(ctx);
        const link = await emails.find(token, 'stop');
        if (link === undefined) return sendExpired(ctx);
        views.send(ctx, 'account-email-stop', {
          csrf: kit.publicToken(ctx, token),
          token,
          from: link.from ?? '',
          added: link.isAddition ? link.to : undefined,
        });
      },

      async submit(ctx: Koa.Context): Promise<void> {
        const form = await kit.readPublic(ctx, (posted) => posted.get('token') ?? '');
        const stopped = await emails.stop(form.get('token') ?? '');
        if (stopped === undefined) return sendExpired(ctx);
        views.send(ctx, 'account-email-done', { what: stopped === 'change' ? 'stopped' : 'removed' });
      },
    },
  };
}
