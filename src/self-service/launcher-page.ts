// /account/applications: what the owner may open.
import type Koa from 'koa';
import type { Launcher } from './launcher.ts';
import { looksOf, ownerOf, type PageKit, type SelfServiceUser } from './page-kit.ts';

export const createLauncherPage = ({
  kit,
  launcher,
}: {
  readonly kit: PageKit;
  readonly launcher: Launcher;
}) => ({
  async show(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
    const model = { account: ownerOf(who), applications: await launcher(who) };
    kit.views.send(ctx, 'account-applications', model, looksOf(who));
  },
});
