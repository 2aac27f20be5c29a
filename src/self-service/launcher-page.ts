// /account/applications: what the owner may open.
import type Koa from 'koa';
import type { Acts } from './acts.ts';
import { looksOf, ownerOf, type PageKit, type SelfServiceUser } from './page-kit.ts';

export const createLauncherPage = (kit: PageKit, { launcher }: Acts) => ({
  async show(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
    const model = { account: ownerOf(who), applications: await launcher(who) };
    kit.views.send(ctx, 'account-applications', model, looksOf(who));
  },
});
