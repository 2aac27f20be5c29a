// What a sign-in creates: SSO sessions (sessions.ts, where to start), grants and tokens (grants.ts,
// issued-tokens.ts), and consents (consents.ts). Not here: the browser's session is a model of the protocol core
// (src/oidc/models/session.ts), which also notifies applications when a session ends.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { consents as consentCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createConsents } from './consents.ts';
import { createGrants } from './grants.ts';
import { createSessions } from './sessions.ts';

export { type ApplicationAccesses, createApplicationAccess } from './application-access.ts';
export type { Consents } from './consents.ts';
export type { Grants } from './grants.ts';
export {
  createIssuedTokens,
  type IssuedGrant,
  type IssuedToken,
  type IssuedTokens,
  type TokenKind,
} from './issued-tokens.ts';
export { countRunning } from './running.ts';
export type { Sessions } from './sessions.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Events;
}

export function createSessionDomain({ store, clock, events }: Deps) {
  const grants = createGrants({ store });
  const sessions = createSessions({ store, clock, grants, events });
  const consents = createConsents({ collection: store.collection(consentCollection), clock, events });
  events.on('accountRemoving', ({ accountId }) =>
    Promise.all([consents.removeOfAccount(accountId), sessions.removeOfAccount(accountId)]),
  );
  return { grants, sessions, consents };
}
