// The provider that is in use, and the notices to applications when a session ends. A rotation of signing keys puts another one in its place: all state is in the store, so
// nothing but this object changes.
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { MountedProvider } from './create-provider.ts';

export interface ProtocolMount
  extends Pick<MountedProvider, 'provider' | 'jwt' | 'middleware' | 'documents' | 'sendLogoutToken'> {
  /** Takes a provider into use. */
  replace(next: MountedProvider): void;
}

/** Created before the provider, whose parts need it; nothing can be read from it until `replace` was called once. */
export function createMount({
  events,
  log,
}: {
  readonly events: Pick<Events, 'on'>;
  readonly log: Pick<Logger, 'warn'>;
}): ProtocolMount {
  let mounted: MountedProvider | undefined;

  function current(): MountedProvider {
    if (mounted === undefined) throw new TypeError('no provider is mounted yet');
    return mounted;
  }

  // OIDC Back-Channel Logout §2.5; the session has ended whether or not an application can be notified.
  events.on('sessionEnded', ({ accountId, sids }) => {
    for (const [clientId, sid] of sids) {
      void current()
        .sendLogoutToken({ clientId, sub: accountId, sid })
        .then((status) => {
          if (status === undefined || status === 200 || status === 204) return;
          log.warn({ client_id: clientId, status }, 'back-channel logout not delivered');
        })
        .catch((error: unknown) => {
          log.warn({ client_id: clientId, err: error }, 'back-channel logout not delivered');
        });
    }
  });

  return {
    get provider() {
      return current().provider;
    },
    get jwt() {
      return current().jwt;
    },
    get middleware() {
      return current().middleware;
    },
    get documents() {
      return current().documents;
    },
    get sendLogoutToken() {
      return current().sendLogoutToken;
    },
    replace(next) {
      mounted = next;
    },
  };
}
