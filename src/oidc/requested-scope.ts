// The scopes of a request as everything behind this sees them: those that the client may have now (decisions §5). What is
// unknown or not allowed is left out, so that applications that always ask for the same list work.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { currentScopes } from './entitlement.ts';
import { clientRecord } from './models/client.ts';
import { ADMIN_SCOPES } from './scopes.ts';

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

// RFC 6749 §3.3. The library refuses anything else with its own words.
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/;

const settled = new WeakMap<object, string>();

/**
 * Settles the scope of an authorization request: a pushed one, one of a device, or one in the browser. None asked is `openid`.
 * @throws InvalidScope the client may have none of them
 */
export function settleScope(ctx: KoaContextWithOIDC): void {
  const { client, params, route } = ctx.oidc;
  if (client === undefined || params === undefined || settled.has(ctx.oidc)) return;
  const asked = typeof params.scope === 'string' ? params.scope : 'openid';
  if (!SCOPE.test(asked)) return;
  let left = allowedScope(asked, client)?.split(' ') ?? [];
  // Devices never have `admin` scopes (decisions §2).
  if (route === 'device_authorization') left = left.filter((scope) => !ADMIN_SCOPES.has(scope));
  if (left.length === 0) throw noScopeLeft(asked);
  const scope = left.join(' ');
  params.scope = scope;
  settled.set(ctx.oidc, scope);
}

/**
 * The library drops `offline_access` without `prompt=consent` (lib/actions/authorization/scopes.js; OIDC Core §11 leaves it to
 * the server). Here the person agrees to it on the consent page, or the owner of a first-party application has (decisions §5).
 */
export function keepSettledScope(ctx: KoaContextWithOIDC): void {
  const scope = settled.get(ctx.oidc);
  if (scope !== undefined) Object.assign(ctx.oidc.params ?? {}, { scope });
}
