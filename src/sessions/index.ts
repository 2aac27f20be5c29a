// What a sign-in creates: SSO sessions (sessions.ts, where to start), grants and tokens (grants.ts,
// issued-tokens.ts), consents (consents.ts), and when each method was used (method-times.ts). Not here: the browser's session is a model of the protocol core
// (src/oidc/models/session.ts), which also notifies applications when a session ends.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Job } from '../jobs/index.ts';
import { consents as consentCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createApplicationAccess } from './application-access.ts';
import { createConsents } from './consents.ts';
import { createGrants } from './grants.ts';
import { purgeExpired } from './purge-expired-job.ts';
import { createSessions } from './sessions.ts';

export type { Grants } from './grants.ts';
export {
  createIssuedTokens,
  type IssuedGrant,
  type IssuedToken,
  type IssuedTokens,
  type TokenKind,
} from './issued-tokens.ts';
export {
  type MethodTimes,
  mergeMethodTimes,
  methodTimesUntil,
  newestOf,
  readMethodTimes,
  stampMethods,
} from './method-times.ts';
export { countRunning } from './running.ts';
export type { Sessions } from './sessions.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Events;
  readonly settings: () => {
    readonly retention_sessions_seconds: number;
    readonly purge_interval_seconds: number;
  };
}

export function createSessionDomain({ store, clock, events, settings }: Deps) {
  const grants = createGrants({ store });
  const sessions = createSessions({ store, clock, grants, events });
  const consents = createConsents({ collection: store.collection(consentCollection), clock, events });
  events.on('accountRemoving', ({ accountId }) =>
    Promise.all([consents.removeOfAccount(accountId), sessions.removeOfAccount(accountId)]),
  );
  events.on('addressChangeStopped', ({ accountId, since }) => consents.removeSince(accountId, since));
  events.on('apiRemoving', ({ apiId }) => grants.revokeOfApi(apiId));
  const jobs: readonly Job[] = [
    purgeExpired({
      store,
      clock,
      removeEndedSessions: sessions.forget,
      retentionSeconds: () => settings().retention_sessions_seconds,
      intervalSeconds: () => settings().purge_interval_seconds,
    }),
  ];
  return { grants, sessions, consents, access: createApplicationAccess({ store, grants }), jobs };
}

export type SessionDomain = Omit<ReturnType<typeof createSessionDomain>, 'jobs'>;
