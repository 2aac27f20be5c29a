// What people do with their passkeys, on the account's page and in its API.
import type Koa from 'koa';
import type { Account } from '../accounts/index.ts';
import type { OwnPasskey, PasskeySignals } from '../passkeys/index.ts';
import type { SelfServiceUser } from './page-kit.ts';

export interface OwnPasskeyActs {
  list(account: Account): Promise<readonly OwnPasskey[]>;
  signals(account: Account): PasskeySignals;
  begin(input: { account: Account; boundTo: string }): Promise<object>;
  add(
    ctx: Koa.Context,
    who: SelfServiceUser,
    input: { boundTo: string; response: unknown },
  ): Promise<{ readonly id: string }>;
  rename(account: Account, id: string, label: string): Promise<void>;
  remove(ctx: Koa.Context, who: SelfServiceUser, id: string): Promise<void>;
}
