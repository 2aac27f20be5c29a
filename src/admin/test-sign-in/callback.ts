// The way back of a trial sign-in: the page that tells the outcome. Whoever signed in may be somebody else than the
// administrator who began it, and then this browser is no administrator's any more: the outcome is theirs all the same,
// for it tells about nobody but them, in a frame that leads nowhere.
import type Koa from 'koa';
import type { Values } from '../pages/page.ts';
import { applicationName } from '../resources/clients/page.ts';
import { outcomeOf } from './outcome.ts';
import type { TrialRun } from './run.ts';

export const TRY_CALLBACK = '/admin/applications/try/callback';

interface Deps {
  readonly run: Pick<TrialRun, 'finish'>;
  readonly issuer: string;
  /** The application as the API shows it; undefined when there is none. */
  readonly readClient: (clientId: string) => Promise<Values | undefined>;
  /** Who is at the Admin UI with this browser now. */
  readonly show: (ctx: Koa.Context, model: object, status: number) => Promise<void>;
}

export function createTryCallback({ run, issuer, readClient, show }: Deps): Koa.Middleware {
  return async (ctx) => {
    const report = await run.finish(ctx);
    const crumbs = [{ label: 'Applications', href: '/applications' }];
    if (report === undefined) {
      return show(ctx, { title: 'This test sign-in has expired', crumbs, outcome: undefined }, 400);
    }
    const { clientId } = report.trial;
    const client = (await readClient(clientId)) ?? { client_id: clientId };
    const name = applicationName(client);
    const model = {
      title: `Try ${name}`,
      crumbs: [...crumbs, { label: name, href: `/applications/${clientId}` }],
      client,
      name,
      outcome: outcomeOf(report, client, issuer),
    };
    return show(ctx, model, 200);
  };
}
