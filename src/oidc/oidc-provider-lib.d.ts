// The library has no types for its inside: this declares what library-internals.ts uses.
declare module 'oidc-provider/lib/actions/grants/index.js' {
  import type { KoaContextWithOIDC } from 'oidc-provider';

  interface Grant {
    readonly grantType: string;
    readonly handler: (provider: object, helpers: object, ctx: KoaContextWithOIDC) => Promise<void>;
  }
  export const authorization_code: Grant;
  export const client_credentials: Grant;
  export const device_code: Grant;
}

declare module 'oidc-provider/lib/helpers/als.js' {
  import type { AsyncLocalStorage } from 'node:async_hooks';
  import type { KoaContextWithOIDC } from 'oidc-provider';

  const requests: AsyncLocalStorage<KoaContextWithOIDC>;

  export = requests;
}

declare module 'oidc-provider/lib/helpers/grants.js' {
  type Help = (provider: object, ...given: readonly unknown[]) => unknown;

  export const buildTokenResponse: Help;
}
