// The admin REST API (decision 0010): the list of all its routes, and its middleware.
import type Koa from 'koa';
import { createAuditTrail } from './api/audit-trail.ts';
import type { Idempotency } from './api/idempotency.ts';
import { openApiRoute } from './api/openapi.ts';
import type { AdminPorts } from './api/ports.ts';
import type { Route } from './api/route.ts';
import { createAdminRouter } from './api/router.ts';
import { apiKeys } from './resources/api-keys/resource.ts';
import { apiImport } from './resources/apis/import-route.ts';
import { apis } from './resources/apis/resource.ts';
import { auditLog } from './resources/audit/resource.ts';
import { mailTexts } from './resources/branding/mail-texts.ts';
import { lookPictures } from './resources/branding/picture-routes.ts';
import { branding, clientBranding, lookExport } from './resources/branding/resource.ts';
import { clientDeliveries } from './resources/clients/deliveries.ts';
import { clients } from './resources/clients/resource.ts';
import { tokenPreview } from './resources/clients/token-preview.ts';
import { groupMembers, groups } from './resources/groups/resource.ts';
import { initialAccessTokens } from './resources/initial-access-tokens/resource.ts';
import { invitations } from './resources/invitations/resource.ts';
import { signingKeys } from './resources/keys/resource.ts';
import { mails } from './resources/mails/resource.ts';
import { passkeys } from './resources/passkeys/resource.ts';
import { sessions, userSessions } from './resources/sessions/resource.ts';
import { mailServer } from './resources/settings/mail-server.ts';
import { settings } from './resources/settings/resource.ts';
import { stats } from './resources/stats/resource.ts';
import { grants, tokens } from './resources/tokens/resource.ts';
import { trustedDevices } from './resources/trusted-devices/resource.ts';
import { userImport } from './resources/users/import-route.ts';
import { userPicture } from './resources/users/picture-route.ts';
import { userActs, users } from './resources/users/resource.ts';

const PATH = '/admin/api';

/** @returns all routes of the admin API */
export function adminRouteList(ports: AdminPorts): Route[] {
  const { baseUrl, version } = ports;
  const routes = [
    ...users.routes(ports),
    ...userActs.routes(ports),
    ...userPicture.routes(ports),
    ...userImport.routes(ports),
    ...clients.routes(ports),
    ...clientDeliveries.routes(ports),
    ...tokenPreview.routes(ports),
    ...apis.routes(ports),
    ...apiImport.routes(ports),
    ...initialAccessTokens.routes(ports),
    ...invitations.routes(ports),
    ...groups.routes(ports),
    ...groupMembers.routes(ports),
    ...apiKeys.routes(ports),
    ...tokens.routes(ports),
    ...grants.routes(ports),
    ...sessions.routes(ports),
    ...userSessions.routes(ports),
    ...trustedDevices.routes(ports),
    ...passkeys.routes(ports),
    ...stats.routes(ports),
    ...settings.routes(ports),
    ...mailServer.routes(ports),
    ...branding.routes(ports),
    ...clientBranding.routes(ports),
    ...lookPictures.routes(ports),
    ...lookExport.routes(ports),
    ...mailTexts.routes(ports),
    ...signingKeys.routes(ports),
    ...mails.routes(ports),
    ...auditLog.routes(ports),
  ];
  const about = {
    title: 'Latchkey admin API',
    version,
    publicUrl: `${baseUrl}${PATH}`,
    referenceUrl: `${baseUrl}/admin/api-reference`,
  };
  return [...routes, openApiRoute(routes, about)];
}

/** @returns middleware for /admin/api; it passes on other paths. src/http/boundary.ts turns thrown errors into responses. */
export function adminRoutes(
  ports: AdminPorts & { readonly idempotency: Idempotency },
  routes: readonly Route[],
): Koa.Middleware {
  return createAdminRouter({
    routes,
    prefix: PATH,
    publicUrl: `${ports.baseUrl}${PATH}`,
    authorizeAdmin: ports.authorizeAdmin,
    auditTrail: createAuditTrail(ports),
    idempotency: ports.idempotency,
  });
}
