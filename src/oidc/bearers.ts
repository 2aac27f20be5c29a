// Who a bearer stands for, at each API of ours that takes one.
import type Koa from 'koa';
import type { Account } from '../accounts/index.ts';
import type { ApiKeys, Clients } from '../clients/index.ts';
import type { Events } from '../events/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { type AdminActor, type AuthorizeAdmin, createAuthorizeAdmin } from './admin-bearer.ts';
import { createBearerGuard } from './bearer-guard.ts';
import type { AccountDirectory } from './find-account.ts';
import type { SessionOfToken } from './token-session.ts';
import type { TokenState } from './token-state.ts';
import { createAuthorizeUser, type UserBearer } from './user-bearer.ts';

interface Deps {
  readonly adminToken: string | undefined;
  readonly state: { readonly tokens: TokenState; readonly sessionOf: SessionOfToken };
  readonly directory: AccountDirectory<Account>;
  readonly clients: Pick<Clients, 'find'>;
  readonly apiKeys: Pick<ApiKeys, 'use'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'emit' | 'origins'>;
}

/** All of them @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope, request.rate_limited */
export interface Bearers {
  readonly authorizeAdmin: AuthorizeAdmin;
  /** The same, by a request's Authorization header. */
  readonly authorizeAdminRequest: (ctx: Koa.Context, need?: 'all' | 'read') => Promise<AdminActor>;
  readonly authorizeUser: (authorization: string | undefined) => Promise<UserBearer>;
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
  const authorizeAdmin = createAuthorizeAdmin({
    ...common,
    adminToken,
    accounts: directory,
    useApiKey: apiKeys.use,
  });
  return {
    authorizeAdmin,
    authorizeAdminRequest: (ctx, need = 'all') => authorizeAdmin(ctx.get('authorization'), need),
    authorizeUser: createAuthorizeUser(common),
  };
}
