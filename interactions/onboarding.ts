// The first run: one page creates and signs in the first administrator. It is closed once an administrator exists.
import type Koa from 'koa';
import { minPasswordLength } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { readForm } from '../src/http/index.ts';
import { newId } from '../src/ids.ts';
import { ACR } from '../src/model/acr.ts';
import { amrOf } from '../src/model/ways-to-sign-in.ts';
import type { FieldErrors } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';

const PURPOSE = 'onboard';

export interface OnboardingPage {
  show(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

export function createOnboardingPage(hand: AtHand): OnboardingPage {
  const { views, csrf, browser, basePath, settings, accounts } = hand;

  function send(ctx: Koa.Context, values: { username: string; email: string }, errors: FieldErrors): void {
    const isRefused = Object.keys(errors).length > 0;
    views.send(
      ctx,
      'onboard',
      { csrf: csrf.token(ctx, PURPOSE), values, errors, minLength: minPasswordLength(settings()) },
      { status: isRefused ? 400 : 200 },
    );
  }

  async function refuseWhenClosed(): Promise<void> {
    if (await accounts.hasAdmin()) throw new AppError('onboarding.closed');
  }

  return {
    async show(ctx) {
      await refuseWhenClosed();
      send(ctx, { username: '', email: '' }, {});
    },

    async submit(ctx) {
      await refuseWhenClosed();
      const form = await readForm(ctx);
      csrf.verify(ctx, PURPOSE, form.get('csrf'));
      const values = { username: form.get('username') ?? '', email: form.get('email') ?? '' };
      const password = form.get('password') ?? '';
      if (password !== form.get('confirm_password')) {
        return send(ctx, values, { confirm_password: { key: 'invalid.password_mismatch' } });
      }
      const { username, email } = values;
      try {
        const account = await accounts.createFirstAdmin({
          username,
          password,
          ...(email === '' ? {} : { email }),
        });
        const login = { accountId: account.id, amr: [...amrOf('password')], acr: ACR.singleFactor };
        const methods = ['password'] as const;
        await hand.onComplete(ctx, account);
        const sessionUid = newId();
        const report = { accountId: account.id, amr: login.amr, methods, sessionId: sessionUid };
        await hand.reportSignIn({ kind: 'complete', ...report });
        await browser.signIn(ctx, { ...login, methods, sessionUid });
      } catch (error) {
        if (!(error instanceof AppError) || error.fields === undefined) throw error;
        return send(ctx, values, error.fields);
      }
      ctx.status = 303;
      ctx.redirect(`${basePath}/admin`);
    },
  };
}
