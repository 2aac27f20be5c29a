// The order of everything under /oauth2 and /realms: our endpoints first, then the library's.
import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createRouter } from '../http/index.ts';
import { realmRoutes } from './foreign-layout/realms.ts';
import { checkSessionPages, createFramesOf, forgetBrowserState, resolveRequestUri } from './legacy/index.ts';
import { type LogoutPages, logoutRoute } from './logout/logout.ts';
import { checkMethods, onlyExactPaths } from './methods.ts';
import type { ProtocolMount } from './mount.ts';
import { authorizeByPost } from './requests/authorize-post.ts';
import { admitDocuments } from './requests/document-clients.ts';
import type { ReadForm } from './requests/form.ts';
import { acceptPublicBasic } from './requests/public-basic.ts';
import { reportRefusals } from './requests/refusals.ts';
import { checkAuthorizationBody, checkAuthorizationQuery } from './requests/request-parameters.ts';
import type { BrowserSession } from './sign-in/browser-session.ts';
import type { AuthorizeAdmin } from './tokens/admin-bearer.ts';
import type { DpopProofs } from './tokens/dpop.ts';
import { introspectAsAdmin, introspectAsApi } from './tokens/introspection.ts';
import { type RevokeToken, revokeByPossession } from './tokens/revocation.ts';
import type { TokenState } from './tokens/token-state.ts';

interface Deps {
  readonly mount: ProtocolMount;
  readonly issuer: string;
  readonly baseUrl: string;
  readonly basePath: string;
  readonly readForm: ReadForm;
  readonly clients: Parameters<typeof acceptPublicBasic>[0]['clients'] &
    Parameters<typeof resolveRequestUri>[0]['clients'] &
    Parameters<typeof checkSessionPages>[0]['clients'];
  readonly apis: Parameters<typeof introspectAsApi>[0]['apis'];
  readonly chargeRefusedClient: Parameters<typeof introspectAsApi>[0]['chargeRefusedClient'];
  readonly authorizeAdmin: AuthorizeAdmin;
  readonly tokens: TokenState;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
  readonly revokeToken: RevokeToken;
  readonly browser: BrowserSession;
  readonly sessions: Parameters<typeof logoutRoute>[0]['sessions'];
  readonly grants: Parameters<typeof logoutRoute>[0]['grants'];
  readonly events: Parameters<typeof logoutRoute>[0]['events'] &
    Parameters<typeof reportRefusals>[0]['events'];
  readonly log: Parameters<typeof reportRefusals>[0]['log'];
  readonly clock: Clock;
  readonly settings: Parameters<typeof logoutRoute>[0]['settings'];
  readonly logoutPages: LogoutPages;
  /** Whether the legacy profile is on. */
  readonly isOn: () => boolean;
  readonly outbound: Parameters<typeof resolveRequestUri>[0]['outbound'];
  readonly documents: Parameters<typeof admitDocuments>[0]['documents'];
  readonly chargePublicRequest: Parameters<typeof checkAuthorizationBody>[0]['chargePublicRequest'];
  /** RFC 7591/7592 (registration.ts). */
  readonly registration: Koa.Middleware;
}

/** In order; each passes on requests that it does not handle. */
export function protocolRoutes(deps: Deps): Koa.Middleware[] {
  const { mount, basePath, readForm } = deps;
  const router = createRouter({ prefix: '/oauth2' });
  router.get('/authorize', checkAuthorizationQuery);
  router.post('/authorize', authorizeByPost({ readForm, path: `${basePath}/oauth2/authorize` }));
  router.post('/par', checkAuthorizationBody(deps));
  router.post('/device_authorization', checkAuthorizationBody(deps));
  const [asAdmin, asApi] = [introspectAsAdmin(deps), introspectAsApi(deps)];
  router.post('/introspect', (ctx, next) => asAdmin(ctx, () => asApi(ctx, next)));
  router.post('/revoke', revokeByPossession(deps));
  const logout = logoutRoute({
    ...deps,
    provider: () => mount.provider,
    pages: deps.logoutPages,
    framesOf: createFramesOf(deps),
    forgetState: (ctx) => forgetBrowserState(ctx, deps),
    path: `${basePath}/oauth2/logout`,
  });
  router.get('/logout', logout);
  router.post('/logout', logout);
  // The library's own logout steps, which ours replaces; a router of its own, because one with parameters is asked every time.
  const steps = createRouter({ prefix: '/oauth2/logout' });
  steps.all('/:step', () => {
    throw new AppError('request.not_found');
  });
  return [
    // The setting that the provider follows may have changed with this request.
    async (_ctx, next) => {
      const pending = mount.ready();
      if (pending !== undefined) await pending;
      return next();
    },
    reportRefusals(deps),
    checkSessionPages(deps),
    realmRoutes(deps),
    checkMethods,
    (ctx, next) => mount.documents.middleware(ctx, next),
    acceptPublicBasic(deps),
    router.middleware,
    steps.middleware,
    admitDocuments(deps),
    deps.registration,
    onlyExactPaths,
    resolveRequestUri({ ...deps, checkQuery: checkAuthorizationQuery }),
    (ctx, next) => mount.middleware(ctx, next),
  ];
}
