// Names the act for which a person is asked to confirm who they are, where the Admin UI or self-service said so
// (src/oidc/sign-in/purpose.ts).
import type Koa from 'koa';
import { type Account, displayNameOf } from '../src/accounts/index.ts';
import type { Apis } from '../src/apis/index.ts';
import type { Csrf } from '../src/http/index.ts';
import { type BoundInteraction, type Client, purposeOf } from '../src/oidc/sign-in.ts';
import { isConfirmedAct, type PageModels } from '../src/views/index.ts';

type Confirming = PageModels['login']['confirming'];

interface Deps {
  readonly csrf: Csrf;
  readonly findAccount: (id: string) => Promise<Account | undefined>;
  readonly findClient: (id: string) => Promise<Client | undefined>;
  readonly apis: Pick<Apis, 'find'>;
}

export function createConfirmedAct({ csrf, findAccount, findClient, apis }: Deps) {
  async function nameOf(act: string, id: string): Promise<string | undefined> {
    if (act.startsWith('client_')) return (await findClient(id))?.clientName ?? id;
    if (act.startsWith('api_')) return (await apis.find(id))?.value.name;
    const account = await findAccount(id);
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
