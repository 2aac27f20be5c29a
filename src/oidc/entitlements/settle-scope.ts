// Settles the scopes of an authorization request before anything else looks at them: one that is pushed, of a device, or in the
// browser (decision 0009). Those of an API are settled when the API is read (requested-api.ts).
import type { KoaContextWithOIDC } from 'oidc-provider';
import { keepWords, nameApi, requestedApi } from './requested-api.ts';
import { allowedScope, noScopeLeft } from './requested-scope.ts';
import { INTERACTIVE_SCOPES, scopes as known } from './scopes.ts';

// RFC 6749 §3.3. The library refuses anything else with its own words.
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/;

const settled = new WeakMap<object, string>();

/**
 * None asked is `openid`.
 * @throws InvalidScope the client may have none of them
 */
export function settleScope(ctx: KoaContextWithOIDC): void {
  const { client, params, route } = ctx.oidc;
  if (client === undefined || params === undefined || settled.has(ctx.oidc)) return;
  if (requestedApi(ctx.oidc) !== undefined) return;
  const isForApi = nameApi(ctx, client, { hasDefault: true });
  const asked = typeof params.scope === 'string' ? params.scope : isForApi ? '' : 'openid';
  if (asked !== '' && !SCOPE.test(asked)) return;
  let left = allowedScope(asked, client)?.split(' ') ?? [];
  // A code that anyone can start and have confirmed opens neither the account nor this server.
  if (route === 'device_authorization') left = left.filter((scope) => !INTERACTIVE_SCOPES.has(scope));
  if (isForApi) {
    keepWords(ctx, [...left, ...asked.split(' ').filter((scope) => scope !== '' && !known.includes(scope))]);
    return;
  }
  if (left.length === 0) throw noScopeLeft(asked);
  const scope = left.join(' ');
  params.scope = scope;
  settled.set(ctx.oidc, scope);
}

/**
 * The library drops `offline_access` without `prompt=consent` (lib/actions/authorization/scopes.js; OIDC Core §11 leaves it to
 * the server). Here the person agrees to it on the consent page, or the owner of a first-party application has (decision 0009).
 */
export function keepSettledScope(ctx: KoaContextWithOIDC): void {
  const scope = settled.get(ctx.oidc);
  if (scope !== undefined) Object.assign(ctx.oidc.params ?? {}, { scope });
}
