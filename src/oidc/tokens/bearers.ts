// Who a bearer stands for, at each API of ours that takes one.
import type { Account } from '../../accounts/index.ts';
import type { ApiKeys, Clients } from '../../clients/index.ts';
import type { Events } from '../../events/index.ts';
import type { Logger } from '../../log.ts';
import type { RateLimits } from '../../rate-limits/index.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { type AdminBearers, createAdminBearers } from './admin-bearer.ts';
import { createBearerGuard } from './bearer-guard.ts';
import type { DpopProofs } from './dpop.ts';
import type { SessionOfToken } from './token-session.ts';
import type { TokenState } from './token-state.ts';
import { type AuthorizeUser, createAuthorizeUser } from './user-bearer.ts';

interface Deps {
  readonly adminToken: string | undefined;
  readonly tokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly dpop: DpopProofs;
  readonly directory: AccountDirectory<Account>;
  readonly clients: Pick<Clients, 'find'>;
  readonly apiKeys: Pick<ApiKeys, 'use'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'emit' | 'origins'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** All of them @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope, request.rate_limited */
export interface Bearers extends AdminBearers {
  readonly authorizeUser: AuthorizeUser;
}

export function createBearers(doors: Deps): Bearers {
  const { adminToken, directory, clients, apiKeys, limits, events, log } = doors;
  const common = {
    ...doors,
    guard: createBearerGuard({ limits, events }),
    findClient: async (id: string) => (await clients.find(id))?.value,
  };
  return {
    ...createAdminBearers({ ...common, adminToken, accounts: directory, useApiKey: apiKeys.use }),
    authorizeUser: createAuthorizeUser({ ...common, scopeMissing: createScopeMissing({ events, log }) }),
  };
}

/** Applications that this process has told of. */
const MAX_TOLD = 1000;

/**
 * What an application is told of that still brings the tokens of before the account API had scopes (decision 0023): on its page each time,
 * where the last refusals are counted, and once in the log of a process.
 */
function createScopeMissing({ events, log }: Pick<Deps, 'events' | 'log'>): (clientId: string) => void {
  const told = new Set<string>();
  return (clientId) => {
    const reason = 'the access token has no scope account';
    events.emit('requestRefused', {
      clientId,
      isKnown: true,
      endpoint: 'account',
      error: 'insufficient_scope',
      reason,
      address: undefined,
    });
    if (told.has(clientId) || told.size >= MAX_TOLD) return;
    told.add(clientId);
    log.warn(
      { event: 'account_scope_missing', client_id: clientId },
      'the application calls the account API without the scope account: it has to ask for it at a sign-in (docs/api.md)',
    );
  };
}
