// The page of an administrator's one-time link to an existing account: the user chooses the first password, or continues to a
// passkey in passkey-only mode. Opening the link changes nothing and creates no session (R097).
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { passSpentLimit, readForm } from '../src/http/index.ts';
import type { FieldErrors } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import { ofLink } from './holders.ts';
import { errorsOf } from './signup-form.ts';

export interface EnrolmentPages {
  show(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
  /** The account for which this browser may create a passkey. */
  holder(ctx: Koa.Context): Promise<Account | undefined>;
}

const PURPOSE = 'enrolment';

export function createEnrolmentPages(hand: AtHand): EnrolmentPages {
  const { views, csrf, done, basePath } = hand;
  const { signUp, enrolment, tickets } = hand.registration;
  const homeUrl = `${basePath}/account`;

  const sendExpired = (ctx: Koa.Context): void =>
    views.send(ctx, 'link-expired', { isSetUp: true }, { status: 410 });

  async function send(ctx: Koa.Context, token: string, errors: FieldErrors): Promise<void> {
    const known = await enrolment.find(token);
    if (known === undefined) return sendExpired(ctx);
    const { isPasswordAsked, minLength } = signUp.questions();
    views.send(
      ctx,
      'enrolment',
      {
        csrf: csrf.token(ctx, PURPOSE),
        token,
        ...known,
        isPasswordAsked,
        minLength,
        errors,
      },
      { status: Object.keys(errors).length > 0 ? 400 : 200 },
    );
  }

  return {
    async holder(ctx) {
      const browserId = csrf.existingBrowserId(ctx);
      if (browserId === undefined || signUp.questions().isPasswordAsked) return undefined;
      return tickets.find(browserId);
    },

    async show(ctx) {
      if (done.isAsked(ctx)) {
        const said = await done.take(ctx);
        if (said !== undefined) return views.send(ctx, 'signup-done', said);
        ctx.status = 303;
        return ctx.redirect(homeUrl);
      }
      await send(ctx, typeof ctx.query.token === 'string' ? ctx.query.token : '', {});
    },

    async submit(ctx) {
      const form = await readForm(ctx);
      csrf.verify(ctx, PURPOSE, form.get('csrf'));
      const token = form.get('token') ?? '';
      await passSpentLimit(ctx, async () => (await enrolment.find(token)) && ofLink(token));
      const password = signUp.questions().isPasswordAsked ? (form.get('password') ?? '') : undefined;
      if (password !== undefined && password !== form.get('confirm_password')) {
        return send(ctx, token, { confirm_password: 'invalid.password_mismatch' });
      }
      let account: Account | undefined;
      try {
        account = await enrolment.complete(token, password);
      } catch (error) {
        return send(ctx, token, errorsOf(error));
      }
      if (account === undefined) return sendExpired(ctx);
      if (password === undefined) await tickets.give(csrf.browserId(ctx), account);
      await done.goTo(ctx, '/oauth2/enrol', { continueUrl: homeUrl });
    },
  };
}
