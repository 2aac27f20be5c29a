// Who a bearer stands for, at each API of ours that takes one.
import type Koa from 'koa';
import type { Account } from '../../accounts/index.ts';
import type { ApiKeys, Clients } from '../../clients/index.ts';
import type { Events } from '../../events/index.ts';
import type { RateLimits } from '../../rate-limits/index.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { type AdminBearers, createAdminBearers } from './admin-bearer.ts';
import { createBearerGuard } from './bearer-guard.ts';
import type { DpopProofs } from './dpop.ts';
import type { SessionOfToken } from './token-session.ts';
import type { TokenState } from './token-state.ts';
import { createAuthorizeUser, type UserBearer } from './user-bearer.ts';

interface Deps {
  readonly adminToken: string | undefined;
  readonly state: {
    readonly tokens: TokenState;
    readonly sessionOf: SessionOfToken;
    readonly dpop: DpopProofs;
  };
  readonly directory: AccountDirectory<Account>;
  readonly clients: Pick<Clients, 'find'>;
  readonly apiKeys: Pick<ApiKeys, 'use'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'emit' | 'origins'>;
}

/** All of them @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope, request.rate_limited */
export interface Bearers extends AdminBearers {
  readonly authorizeUser: (ctx: Koa.Context) => Promise<UserBearer>;
}

export function createBearers({
  adminToken,
  state,
  directory,
  clients,
  apiKeys,
  limits,
  events,
}: Deps): Bearers {
  const common = {
    ...state,
    guard: createBearerGuard({ limits, events }),
    findClient: async (id: string) => (await clients.find(id))?.value,
  };
  return {
    ...createAdminBearers({ ...common, adminToken, accounts: directory, useApiKey: apiKeys.use }),
    authorizeUser: createAuthorizeUser(common),
  };
}
