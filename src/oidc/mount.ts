// The provider that is in use. A rotation of signing keys puts another one in its place: all state is in the store, so
// nothing but this object changes.
import type { MountedProvider } from './create-provider.ts';

export interface ProtocolMount
  extends Pick<
    MountedProvider,
    'provider' | 'jwt' | 'middleware' | 'documents' | 'publicKey' | 'sendLogoutToken'
  > {
  /** Takes a provider into use. */
  replace(next: MountedProvider): void;
  /** What a request waits for while another provider is being built for it (legacy/follow-setting.ts); undefined: nothing. */
  ready(): Promise<void> | undefined;
  /** @param ready asked before each request */
  waitFor(ready: () => Promise<void> | undefined): void;
}

/** Created before the provider, whose parts need it; nothing can be read from it until `replace` was called once. */
export function createMount(): ProtocolMount {
  let mounted: MountedProvider | undefined;
  let ready: () => Promise<void> | undefined = () => undefined;

  function current(): MountedProvider {
    if (mounted === undefined) throw new TypeError('no provider is mounted yet');
    return mounted;
  }

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
    get publicKey() {
      return current().publicKey;
    },
    get sendLogoutToken() {
      return current().sendLogoutToken;
    },
    replace(next) {
      mounted = next;
    },
    ready: () => ready(),
    waitFor(next) {
      ready = next;
    },
  };
}
