// The admin REST API (specification §4.1, decisions §6): the list of all its routes, and its middleware.
import type Koa from 'koa';
import type { Account, AccountDomain } from '../accounts/index.ts';
import type { Pictures } from '../branding/index.ts';
import type { Clients } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Keys } from '../keys/index.ts';
import type { PreviewTokens, ReadCalledAddresses } from '../oidc/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { PlaceOf } from '../places/index.ts';
import type { IssuedTokens } from '../sessions/index.ts';
import { createAuditTrail } from './api/audit-trail.ts';
import { createCursors } from './api/cursor.ts';
import type { Idempotency } from './api/idempotency.ts';
import { openApiRoute } from './api/openapi.ts';
import type { AuthorizeAdmin, MailPort, SessionsPort } from './api/ports.ts';
import type { Route } from './api/route.ts';
import { createAdminRouter } from './api/router.ts';
import { type ApiKeysPort, apiKeys } from './resources/api-keys/resource.ts';
import { apiImport } from './resources/apis/import-route.ts';
import { type ApisPort, apis } from './resources/apis/resource.ts';
import { type AuditLogPort, auditLog, type TokenEventsPort } from './resources/audit/resource.ts';
import { mailTexts } from './resources/branding/mail-texts.ts';
import { lookPictures } from './resources/branding/picture-routes.ts';
import { branding, clientBranding, type LooksPort, lookExport } from './resources/branding/resource.ts';
import { clientDeliveries, type LogoutDeliveriesPort } from './resources/clients/deliveries.ts';
import { type ClientsPort, clients, type RefusalsPort } from './resources/clients/resource.ts';
import { tokenPreview } from './resources/clients/token-preview.ts';
import { type GroupsPort, groupMembers, groups } from './resources/groups/resource.ts';
import { initialAccessTokens } from './resources/initial-access-tokens/resource.ts';
import { type InvitationsPort, invitations } from './resources/invitations/resource.ts';
import { signingKeys } from './resources/keys/resource.ts';
import { mails } from './resources/mails/resource.ts';
import { type PasskeysPort, passkeys } from './resources/passkeys/resource.ts';
import { sessions, userSessions } from './resources/sessions/resource.ts';
import { mailServer } from './resources/settings/mail-server.ts';
import { type SettingsPort, settings } from './resources/settings/resource.ts';
import { type StatsPort, stats } from './resources/stats/resource.ts';
import { grants, tokens } from './resources/tokens/resource.ts';
import { type TrustedDevicesPort, trustedDevices } from './resources/trusted-devices/resource.ts';
import { userImport } from './resources/users/import-route.ts';
import { userPicture } from './resources/users/picture-route.ts';
import { type AccountsPort, type SendLink, userActs, users } from './resources/users/resource.ts';

export interface AdminRoutesDeps {
  readonly accounts: AccountsPort;
  readonly clients: ClientsPort;
  readonly logoutDeliveries: LogoutDeliveriesPort;
  readonly readCalledAddresses: ReadCalledAddresses;
  readonly previewTokens: PreviewTokens;
  readonly refusals: RefusalsPort;
  readonly initialAccessTokens: Pick<Clients['initialAccessTokens'], 'create' | 'query' | 'remove'>;
  readonly apis: ApisPort;
  readonly groups: GroupsPort;
  readonly importAccount: AccountDomain['importAccount'];
  readonly apiKeys: ApiKeysPort;
  readonly issuedTokens: IssuedTokens;
  readonly stats: StatsPort;
  readonly idempotency: Idempotency;
  readonly sessions: SessionsPort;
  readonly placeOf: PlaceOf;
  readonly settings: SettingsPort;
  readonly looks: LooksPort;
  readonly pictures: Pick<Pictures, 'add' | 'read' | 'describe'>;
  readonly keys: Pick<Keys, 'list' | 'rotate'>;
  readonly mail: MailPort;
  readonly trustedDevices: TrustedDevicesPort;
  readonly removePicture: (account: Account) => Promise<void>;
  readonly sendPasswordReset: SendLink;
  readonly sendEmailVerification: SendLink;
  readonly sendEnrolmentLink: SendLink;
  readonly settleEmailChange: (account: Account, choice: 'keep' | 'undo') => Promise<void>;
  readonly invitations: InvitationsPort;
  readonly passkeys: PasskeysPort & Pick<Passkeys, 'checkAuthMode'>;
  readonly audit: AuditLogPort;
  readonly events: Pick<Events, 'record'>;
  readonly tokenEvents: TokenEventsPort;
  readonly authorizeAdmin: AuthorizeAdmin;
  readonly clock: Clock;
  /** Secret that signs list cursors; the same in every process. */
  readonly cursorKey: string;
  /** BASE_URL: absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Product version, for the OpenAPI document. */
  readonly version: string;
}

const PATH = '/admin/api';

/** @returns all routes of the admin API */
export function adminRouteList(deps: AdminRoutesDeps): Route[] {
  const { clock, baseUrl, version } = deps;
  const cursors = createCursors({ key: deps.cursorKey });
  const ports = { ...deps, cursors, clock };
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
    ...settings.routes(deps),
    ...mailServer.routes(deps),
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
export function adminRoutes(deps: AdminRoutesDeps, routes: readonly Route[]): Koa.Middleware {
  return createAdminRouter({
    routes,
    prefix: PATH,
    publicUrl: `${deps.baseUrl}${PATH}`,
    authorizeAdmin: deps.authorizeAdmin,
    auditTrail: createAuditTrail(deps),
    idempotency: deps.idempotency,
  });
}
