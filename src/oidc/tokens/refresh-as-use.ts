// Which refresh counts as use of the session that its tokens came from (decision 0007; models/session-use.ts).
import type Koa from 'koa';
import { isFirstParty } from '../../clients/index.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { requestAccount } from '../entitlements/find-account.ts';
import { clientRecord } from '../models/client.ts';
import type { SessionGrant } from '../models/grant.ts';
import { createUseSession, type SessionUseDeps } from '../models/session-use.ts';
import type { ProtocolContext } from '../provider-middleware.ts';

const ignoreUnavailable = (error: unknown): void => {
  if (!(error instanceof StoreUnavailable)) throw error;
};

/** The session that this refresh used: by a first-party application that signs the person in for as long as that session lasts. */
function sessionOf(ctx: ProtocolContext): string | undefined {
  const { oidc } = ctx;
  if (oidc?.params?.grant_type !== 'refresh_token' || ctx.status !== 200) return undefined;
  const { client, entities } = oidc;
  const token = entities.RefreshToken;
  const grant: SessionGrant | undefined = entities.Grant;
  if (client === undefined || token === undefined) return undefined;
  if (!isFirstParty(clientRecord(client))) return undefined;
  const isOfBrowser = token.gty?.startsWith('authorization_code') === true;
  if (!isOfBrowser || token.scopes.has('offline_access')) return undefined;
  // Whoever administers is asked again.
  return requestAccount({ oidc })?.role === 'user' ? grant?.sessionUid : undefined;
}

export function noteSessionUse(deps: SessionUseDeps): Koa.Middleware {
  const use = createUseSession(deps);
  return async (ctx: ProtocolContext, next) => {
    await next();
    const uid = sessionOf(ctx);
    // The tokens are issued; without the store the next refresh is as good a use.
    if (uid !== undefined) await use(uid).catch(ignoreUnavailable);
  };
}
