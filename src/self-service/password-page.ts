// /account/password: users replace their password by entering the current one, or set a first one directly after a
// sign-in. For an account with nothing but a password, entering it is the fresh authentication; for any other, the
// password alone changes nothing.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { FieldErrors } from '../views/index.ts';
import type { Acts } from './acts.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';

interface Shown extends Partial<Problem> {
  readonly errors?: FieldErrors;
}

export function createPasswordPage(kit: PageKit, { password }: Acts) {
  const { minLength, isPasswordEnough, change } = password;
  const hasPassword = ({ account }: SelfServiceUser): boolean => account.passwordHash !== undefined;
  const mayChange = (who: SelfServiceUser): boolean =>
    who.isFresh || (hasPassword(who) && isPasswordEnough(who));

  function refuseWhenOff(): void {
    if (password.arePasswordsOff()) throw new AppError('password.off');
  }

  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, status, retryAfterSeconds } = shown;
    kit.views.send(
      ctx,
      'account-password',
      {
        csrf: kit.token(ctx, who),
        account: ownerOf(who),
        hasPassword: hasPassword(who),
        notice: kit.noticeOf(ctx, ['reported']),
        minLength: minLength(),
        canReset: password.canReset(),
        confirmUrl: mayChange(who) ? undefined : kit.confirmUrlOf(who, 'password'),
        errors,
        alert: alert === undefined ? undefined : { key: alert },
        retryAfterSeconds,
      },
      looksOf(who, status ?? (Object.keys(errors).length > 0 ? 400 : 200)),
    );
  }

  return {
    async show(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await show(ctx, who);
    },

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await kit.change(ctx, who, {
        page: 'home',
        isPasswordEnough: mayChange(who),
        alerts: {
          'request.rate_limited': 'alert.rate_limited',
          'account.changed': 'alert.account_changed',
          'server.busy': 'alert.busy',
        },
        async act(form) {
          const next = form.get('password') ?? '';
          if (next !== form.get('confirm_password')) {
            await show(ctx, who, { errors: { confirm_password: 'invalid.password_mismatch' } });
            return undefined;
          }
          const given = form.get('current_password') ?? '';
          try {
            if ((await change(ctx, who, { given, next })) === 'changed')
              return hasPassword(who) ? 'password_changed' : 'password_set';
            await show(ctx, who, { errors: { current_password: 'invalid.current_password' }, status: 401 });
          } catch (error) {
            const errors = error instanceof AppError ? error.fields : undefined;
            if (errors === undefined) throw error;
            await show(ctx, who, { errors });
          }
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      });
    },
  };
}
