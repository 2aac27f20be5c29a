// The scopes of a request as everything behind this sees them: those that the client may have now (decision 0009). What is
// unknown or not allowed is left out, so that applications that always ask for the same list work.
import { type Client, errors } from 'oidc-provider';
import { clientRecord } from '../models/client.ts';
import { currentScopes } from './entitlement.ts';

const MAX_NAMED = 200;

/** Names the scopes, because applications show only the description. `asked` is in the syntax of a scope. */
function refusalOf(asked: string, problem: string): errors.InvalidScope {
  const named = asked.length > MAX_NAMED ? `${asked.slice(0, MAX_NAMED)}...` : asked;
  return new errors.InvalidScope(`${problem}: ${named}`, named);
}

export const noScopeLeft = (asked: string): errors.InvalidScope =>
  refusalOf(asked, 'this application may have none of these scopes');

/** At a refresh. */
export const noScopeGranted = (asked: string): errors.InvalidScope =>
  refusalOf(asked, 'none of these scopes was granted');

/** @returns what a request of this client may ask for; undefined when that is nothing */
export function allowedScope(asked: string, client: Client): string | undefined {
  const hasRefreshTokens = client.grantTypeAllowed('refresh_token');
  const allowed = currentScopes(new Set(asked.split(' ')), clientRecord(client)).filter(
    (scope) => scope !== 'offline_access' || hasRefreshTokens,
  );
  return allowed.length === 0 ? undefined : allowed.join(' ');
}
