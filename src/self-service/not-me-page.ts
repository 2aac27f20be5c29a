// /account/not-me: the owner did not recognise an activity. One press ends everything but this session, removes what was added
// lately and is not the owner's, and leads to a new password or a new passkey: what the other person knew must not be enough
// any more (decision 0037).

import type Koa from 'koa';
import type { Form } from '../http/index.ts';
import type { Acts } from './acts.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';

const PREFIX = 'remove:';

const chosenIn = (form: Form): ReadonlySet<string> =>
  new Set(
    form
      .keys()
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => name.slice(PREFIX.length)),
  );

export function createNotMePage(kit: PageKit, acts: Acts) {
  const { password } = acts;
  const hasPassword = ({ account }: SelfServiceUser): boolean =>
    account.passwordHash !== undefined && !password.arePasswordsOff();

  async function show(ctx: Koa.Context, who: SelfServiceUser, problem?: Problem): Promise<void> {
    const model = {
      csrf: kit.token(ctx, who),
      account: ownerOf(who),
      hasPassword: hasPassword(who),
      confirmUrl: kit.confirmUrlOf(who, 'not-me'),
      additions: await acts.additions(who),
      tellsAdministrators: await acts.tellsAdministrators(),
      alert: problem && { key: problem.alert },
    };
    kit.views.send(ctx, 'account-not-me', model, looksOf(who, problem?.status));
  }

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),
    submit: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'not-me',
        alerts: {},
        async act(form) {
          const { kept } = await acts.reportCompromise(who, ctx, chosenIn(form));
          if (kept > 0) {
            await show(ctx, who, { alert: 'alert.not_me_kept', status: 409 });
            return undefined;
          }
          const next = hasPassword(who) ? 'password' : 'passkeys';
          kit.goToldTo(ctx, next, 'reported');
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      }),
  };
}
