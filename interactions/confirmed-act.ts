// Names the act for which a person is asked to confirm who they are, where the Admin UI or self-service said so
// (src/oidc/sign-in/purpose.ts).
import type Koa from 'koa';
import { displayNameOf } from '../src/accounts/index.ts';
import { type BoundInteraction, purposeOf } from '../src/oidc/sign-in.ts';
import { isConfirmedAct, type PageModels } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';

type Confirming = PageModels['login']['confirming'];

export function createConfirmedAct({ csrf, accounts, findClient, apis }: AtHand) {
  async function nameOf(act: string, id: string): Promise<string | undefined> {
    if (act.startsWith('client_')) return (await findClient(id))?.clientName ?? id;
    if (act.startsWith('api_')) return (await apis.find(id))?.value.name;
    const account = await accounts.find(id);
    return account && (displayNameOf(account.profile) ?? account.username);
  }

  return async (ctx: Koa.Context, interaction: BoundInteraction): Promise<Confirming> => {
    const { act = '', target = '' } = purposeOf(ctx, csrf, interaction) ?? {};
    if (!isConfirmedAct(act)) return undefined;
    if (target === '') return { act };
    const name = await nameOf(act, target);
    // Gone meanwhile: the page behind says so.
    return name === undefined ? undefined : { act, name };
  };
}
