// Sign-outs by a hint whose session is over: sessions idle for hours, refresh tokens for weeks (decision 0005).
import type Koa from 'koa';
import type { Client } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import type { Events } from '../../events/index.ts';
import type { Sessions } from '../../sessions/index.ts';
import { clientRecord } from '../models/client.ts';
import type { BrowserSession } from '../sign-in/browser-session.ts';
import type { Hint } from './logout-request.ts';
import { isUnverified } from './unverified-client.ts';

interface Deps {
  readonly sessions: Pick<Sessions, 'endPast' | 'findBySid'>;
  readonly browser: Pick<BrowserSession, 'had'>;
  readonly events: Pick<Events, 'note'>;
  readonly clock: Clock;
}

const LONGEST_GRANT_SECONDS = 365 * 86_400;

/**
 * Of a hint whose session this browser does not have now. Where it had it, all that was born in that session ends; elsewhere what the
 * application itself got there: for more, the ID token of one application would be too little (decision 0005).
 */
export async function endPast(
  ctx: Koa.Context,
  { sub, sid, iat }: Hint,
  client: Client,
  { sessions, browser, events, clock }: Deps,
  isAuthenticated = false,
): Promise<'over' | 'elsewhere'> {
  const login = { accountId: sub, clientId: client.clientId, sid };
  if ((await sessions.findBySid(login)) !== undefined) return 'elsewhere';
  const { ended, isLeft } = await sessions.endPast(login, {
    endWhole: (uid) => !isUnverified(client) && browser.had(ctx, uid),
    endOwn:
      iat > epochSeconds(clock) - LONGEST_GRANT_SECONDS &&
      (isAuthenticated || clientRecord(client).logoutNeedsAuth !== true),
  });
  for (const uid of ended) noteEnding(events, client, { uid, accountId: sub });
  return isLeft ? 'elsewhere' : 'over';
}

export function noteEnding(
  events: Deps['events'],
  { clientId }: Client,
  { uid, accountId }: { readonly uid: string; readonly accountId: string },
): void {
  events.note({
    event: 'session.ended_by_application',
    actor: { kind: 'client', id: clientId },
    target: { kind: 'user', id: accountId },
    clientId,
    sessionId: uid,
    details: { session_id: uid },
  });
}
