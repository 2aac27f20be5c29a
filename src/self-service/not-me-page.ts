// /account/not-me: the owner did not recognise an activity. One press ends everything but this session, and leads to a new
// password or a new passkey: what the other person knew must not be enough any more.
import type Koa from 'koa';
import type { HomeDeps } from './home-page.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';

export interface NotMeDeps {
  readonly kit: PageKit;
  readonly arePasswordsOff: () => boolean;
  readonly report: HomeDeps['acts']['reportCompromise'];
}

export function createNotMePage({ kit, arePasswordsOff, report }: NotMeDeps) {
  const hasPassword = ({ account }: SelfServiceUser): boolean =>
    account.passwordHash !== undefined && !arePasswordsOff();

  async function show(ctx: Koa.Context, who: SelfServiceUser, problem?: Problem): Promise<void> {
    const model = {
      csrf: kit.token(ctx, who),
      account: ownerOf(who),
      hasPassword: hasPassword(who),
      confirmUrl: kit.confirmUrlOf(who, 'not-me'),
    };
    kit.views.send(ctx, 'account-not-me', model, looksOf(who, problem?.status));
  }

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),
    submit: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'not-me',
        alerts: {},
        async act() {
          await report(who, ctx);
          const next = hasPassword(who) ? 'password' : 'passkeys';
          kit.goTo(ctx, `${kit.urlOf(next)}?notice=reported`);
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      }),
  };
}
