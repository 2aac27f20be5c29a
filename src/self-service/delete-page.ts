// /account/delete: what is lost, and the press that deletes the own account, after a fresh sign-in and the typed username.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { FieldErrors } from '../views/index.ts';
import type { Acts } from './acts.ts';
import {
  type Alerts,
  looksOf,
  ownerOf,
  type PageKit,
  type Problem,
  type SelfServiceUser,
} from './page-kit.ts';

interface Shown extends Partial<Problem> {
  readonly errors?: FieldErrors;
}

const ALERTS: Alerts = {
  'account.last_admin': 'alert.last_admin',
  'passkey.last_admin': 'alert.last_admin',
};

export function createDeletePage(kit: PageKit, { deletion, overview }: Acts) {
  function refuseWhenOff(): void {
    if (!deletion.isAllowed()) throw new AppError('account.deletion_off');
  }

  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, status } = shown;
    const model = {
      csrf: kit.token(ctx, who),
      account: ownerOf(who),
      confirmUrl: kit.confirmUrlOf(who, 'delete'),
      ...(await overview.lost(who)),
      graceDays: deletion.days(),
      errors,
      alert: alert === undefined ? undefined : { key: alert },
    };
    kit.views.send(ctx, 'account-delete', model, looksOf(who, status));
  }

  return {
    async show(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await show(ctx, who);
    },

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await kit.change(ctx, who, {
        page: 'delete',
        alerts: ALERTS,
        async act(form) {
          try {
            const dueAt = await deletion.request(who, form.get('username') ?? '');
            kit.views.send(ctx, 'account-delete-done', { dueAt }, looksOf(who));
          } catch (error) {
            if (!(error instanceof AppError) || error.fields === undefined) throw error;
            await show(ctx, who, { errors: { username: 'invalid.own_username' }, status: 400 });
          }
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      });
    },
  };
}
