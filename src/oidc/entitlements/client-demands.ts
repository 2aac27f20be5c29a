// What an application and an API demand of every sign-in for them, whatever the request says: `required_acr` and `max_auth_age`
// (decision 0009). Written into the parameters as an essential `acr` claim and a `max_age`, so that the same rules hold as for a request that
// demands them itself, in the browser, pushed or by a device.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { acrFrom } from '../../clients/index.ts';
import { parseJson } from '../../json.ts';
import { clientRecord } from '../models/client.ts';
import { acrRequestOf } from './acr.ts';
import { requestedApi } from './requested-api.ts';

export function demandAuthentication(ctx: KoaContextWithOIDC): void {
  const { client, params } = ctx.oidc;
  if (client === undefined || params === undefined) return;
  // At the authorization endpoint the hook runs again, by the settings of then. Written into what is pushed, they would be
  // taken for the client's own there, which asks for `openid` (lib/actions/authorization/check_openid_scope.js).
  if (ctx.oidc.route === 'pushed_authorization_request') return;
  // The library has looked up the API by now (lib/shared/check_resource.js).
  for (const { requiredAcr, maxAuthAgeSeconds } of [
    clientRecord(client),
    requestedApi(ctx.oidc)?.api.value ?? {},
  ]) {
    if (maxAuthAgeSeconds !== undefined) {
      const asked = params.max_age === undefined ? maxAuthAgeSeconds : Number(params.max_age);
      params.max_age = String(Math.min(asked, maxAuthAgeSeconds));
    }
    if (requiredAcr !== undefined) {
      params.claims = withEssentialAcr(params.claims, acrFrom(requiredAcr));
    }
  }
}

/** @param claims the parameter, which the library has checked */
function withEssentialAcr(claims: unknown, required: readonly string[]): string {
  const given = typeof claims === 'string' ? claims : '{}';
  const { essential = required } = acrRequestOf({ claims: given });
  const both = essential.filter((acr) => required.includes(acr));
  const values = both.length > 0 ? both : required;
  const members: { id_token?: Record<string, unknown> | null } = { ...Object(parseJson(given)) };
  return JSON.stringify({
    ...members,
    id_token: { ...members.id_token, acr: { essential: true, values } },
  });
}
