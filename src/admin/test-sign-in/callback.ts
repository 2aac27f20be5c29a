// The callback of a test sign-in: the page that shows its outcome. The user who signed in may differ from the administrator
// who started it, and then the browser is no longer signed in as an administrator. The outcome is still shown, because it
// concerns only the user who signed in; the page then has no links into the Admin UI.
import type Koa from 'koa';
import { toClient } from '../../clients/index.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { phrase } from '../../phrase.ts';
import type { Values } from '../pages/page.ts';
import { applicationName } from '../resources/clients/page.ts';
import { outcomeOf } from './outcome.ts';
import type { TestSignInRun } from './run.ts';

export function createTryCallback(
  { clients, apis, issuer }: ProtocolDoors,
  run: TestSignInRun,
  /** Shows the page for the user whom this browser is signed in as now. */
  show: (ctx: Koa.Context, model: object, status: number) => Promise<void>,
): Koa.Middleware {
  async function readClient(clientId: string): Promise<Values | undefined> {
    const client = await clients.find(clientId);
    return client && toClient(client);
  }

  async function readApi(identifier: string) {
    const found = await apis.findByIdentifier(identifier);
    return found && { id: found.id, name: found.value.name };
  }

  return async (ctx, next) => {
    // The result can be read only once, so a HEAD request must not consume it.
    if (ctx.method === 'HEAD') return next();
    const report = await run.finish(ctx);
    const crumbs = [{ label: 'Applications', href: '/applications' }];
    if (report === undefined) {
      return show(ctx, { title: 'This test sign-in has expired', crumbs, outcome: undefined }, 400);
    }
    const { clientId } = report.started;
    const client = (await readClient(clientId)) ?? { client_id: clientId };
    const name = applicationName(client);
    const resource = report.started.query.get('resource');
    const model = {
      title: phrase`Try ${name}`,
      crumbs: [
        ...crumbs,
        { label: name, href: `/applications/${encodeURIComponent(clientId)}`, isName: true },
      ],
      client,
      name,
      api: resource === null ? undefined : await readApi(resource),
      outcome: outcomeOf(report, client, issuer),
    };
    return show(ctx, model, 200);
  };
}
