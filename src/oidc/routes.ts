// The order of everything under /oauth2 and /realms: our endpoints first, then the library's.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { createRouter, readForm } from '../http/index.ts';
import type { ProtocolDoors } from './doors.ts';
import { realmRoutes } from './foreign-layout/realms.ts';
import { checkSessionPages, createFramesOf, forgetBrowserState, resolveRequestUri } from './legacy/index.ts';
import { type LogoutPages, logoutRoute } from './logout/logout.ts';
import { checkMethods, onlyExactPaths } from './methods.ts';
import { authorizeByPost } from './requests/authorize-post.ts';
import { admitDocuments } from './requests/document-clients.ts';
import { acceptPublicBasic } from './requests/public-basic.ts';
import { reportRefusals } from './requests/refusals.ts';
import { checkAuthorizationBody, checkAuthorizationQuery } from './requests/request-parameters.ts';
import { introspectAsAdmin, introspectAsApi } from './tokens/introspection.ts';
import { revokeByPossession } from './tokens/revocation.ts';

/** In order; each passes on requests that it does not handle. */
export function protocolRoutes(
  doors: ProtocolDoors,
  logoutPages: LogoutPages,
  /** RFC 7591/7592 (registration.ts). */
  registration: Koa.Middleware,
): Koa.Middleware[] {
  const { mount, basePath, limits, agents } = doors;
  const chargePublicRequest = (address: string) => limits.consume('public_requests_ip', address);
  const isOn = () => doors.settings().legacy_profiles;
  const deps = {
    ...doors,
    ...doors.guards,
    outbound: doors.outbound.fetch,
    readForm,
    isOn,
    chargePublicRequest,
  };
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
    pages: logoutPages,
    framesOf: createFramesOf(deps),
    forgetState: (ctx) => forgetBrowserState(ctx, doors),
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
    reportRefusals(doors),
    checkSessionPages(deps),
    realmRoutes(doors),
    checkMethods,
    (ctx, next) => mount.documents.middleware(ctx, next),
    acceptPublicBasic(deps),
    router.middleware,
    steps.middleware,
    admitDocuments({ ...doors, documents: agents.documents }),
    registration,
    onlyExactPaths,
    resolveRequestUri({ ...deps, checkQuery: checkAuthorizationQuery }),
    (ctx, next) => mount.middleware(ctx, next),
  ];
}
