import type Koa from 'koa';
import type { Account } from '../accounts/index.ts';
import type { ProtocolDoors } from '../oidc/index.ts';

/** Which browsers an account knows. */
export interface KnownBrowsers {
  isKnown(ctx: Koa.Context, account: Account): boolean;
  forgetAll(accountId: string): Promise<void>;
  forgetOthers(ctx: Koa.Context, accountId: string): Promise<void>;
  fromBrowser(ctx: Koa.Context): { readonly tokens: readonly string[] };
  remember(ctx: Koa.Context, accountId: string): Promise<void>;
}

export interface SelfServiceDoors extends ProtocolDoors {
  readonly browsers: KnownBrowsers;
}
