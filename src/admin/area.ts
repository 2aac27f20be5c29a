// All that answers under /admin: the routes of the API, and the Admin UI. index.ts loads this file, and by it half of the
// program, at the first request for it.
import type Koa from 'koa';
import type { Account, AccountDomain } from '../accounts/index.ts';
import type { Apis } from '../apis/index.ts';
import type { AuditLogs } from '../audit/index.ts';
import type { Avatars } from '../avatars/index.ts';
import type { Branding } from '../branding/index.ts';
import type { ClientDomain } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import { readForm } from '../http/index.ts';
import type { Keys, Sealer } from '../keys/index.ts';
import { ACR } from '../model/acr.ts';
import {
  type AccountDirectory,
  type Bearers,
  describeToken,
  type ProtocolState,
  type RedeemCode,
} from '../oidc/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { PlaceOf } from '../places/index.ts';
import type { Recovery } from '../recovery/index.ts';
import type { Registration } from '../registration/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import type { SessionDomain } from '../sessions/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import { createAuditTrail } from './api/audit-trail.ts';
import { createPerform } from './api/perform.ts';
import { type ApiPartsDeps, createApiParts } from './api-parts.ts';
import { type AdminUiDeps, createAdminUi } from './console/create.ts';
import { createCalls } from './pages/calls.ts';
import { createImportDesk } from './resources/users/import-desk.ts';
import type { UserImports } from './resources/users/import-records.ts';
import { createImportRun } from './resources/users/import-run.ts';
import { type AdminRoutesDeps, adminRouteList, adminRoutes } from './routes.ts';
import type { TestSignIns } from './test-sign-in/create.ts';

/** Whole domains, and what stands around them. */
export interface AdminDeps {
  readonly config: Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys'> & {
    readonly basePath: string;
    readonly version: string;
  };
  readonly store: Store;
  readonly clock: Clock;
  readonly placeOf: PlaceOf;
  readonly events: Pick<Events, 'record' | 'origins' | 'on'>;
  readonly pages: Pick<AdminUiDeps, 'views' | 'csrf' | 'oneTime'>;
  readonly protocol: {
    readonly state: Pick<ProtocolState, 'browser' | 'tokens' | 'signedIn'>;
    readonly directory: AccountDirectory<Account>;
    readonly bearers: Pick<Bearers, 'authorizeAdmin'>;
    readonly logoutDeliveries: AdminRoutesDeps['logoutDeliveries'];
    readonly readCalledAddresses: AdminRoutesDeps['readCalledAddresses'];
    readonly previewTokens: AdminRoutesDeps['previewTokens'];
    readonly redeemCode: RedeemCode;
  };
  /** The domains to administer. */
  readonly domains: {
    readonly accounts: Pick<AccountDomain, 'accounts' | 'groups' | 'importAccount'>;
    readonly clients: ClientDomain;
    readonly apis: Apis;
    readonly sessions: Pick<SessionDomain, 'sessions' | 'grants'>;
    readonly settings: Settings;
    readonly branding: Branding;
    readonly keys: Keys;
    readonly sealer: ApiPartsDeps['sealer'] & Pick<Sealer, 'seal' | 'open'>;
    readonly avatars: Pick<Avatars, 'removeAsAdmin'>;
    readonly mail: AdminRoutesDeps['mail'];
    readonly secondFactors: Pick<SecondFactors, 'trustedDevices'>;
    readonly passkeys: Passkeys;
    readonly recovery: Recovery;
    readonly registration: Registration;
    readonly audit: AuditLogs;
  };
}

/** What the API's routes take. */
function apiOf({ config, store, clock, placeOf, events, protocol, domains }: AdminDeps): AdminRoutesDeps {
  const { accounts, clients, sessions, secondFactors, recovery, registration, audit } = domains;
  const { apis, settings, branding, keys, sealer, mail, passkeys } = domains;
  return {
    ...accounts,
    ...clients,
    apis,
    initialAccessTokens: clients.clients.initialAccessTokens,
    sessions: sessions.sessions,
    placeOf,
    settings,
    ...branding,
    keys,
    mail,
    trustedDevices: secondFactors.trustedDevices,
    passkeys,
    removePicture: domains.avatars.removeAsAdmin,
    sendPasswordReset: recovery.sendPasswordReset,
    sendEmailVerification: recovery.sendEmailVerification,
    sendEnrolmentLink: registration.enrolment.sendLink,
    settleEmailChange: recovery.emailChanges.settleAsAdmin,
    invitations: registration.invitations,
    audit: audit.audit,
    tokenEvents: audit.tokenLog,
    authorizeAdmin: protocol.bearers.authorizeAdmin,
    logoutDeliveries: protocol.logoutDeliveries,
    readCalledAddresses: protocol.readCalledAddresses,
    previewTokens: protocol.previewTokens,
    ...createApiParts({ store, clock, sealer, grants: sessions.grants }),
    clock,
    events,
    cursorKey: config.cookieKeys[0] ?? '',
    baseUrl: config.baseUrl,
    version: config.version,
  };
}

export interface Area {
  /** For /admin; it passes on paths that it has not. */
  readonly middleware: Koa.Middleware;
  /** Goes on with the imports of users that run. @returns how many rows are done */
  readonly goOnImporting: (signal: AbortSignal) => Promise<number>;
}

export function createArea(deps: AdminDeps, testSignIns: TestSignIns, imports: UserImports): Area {
  const { config, clock, events, pages, protocol } = deps;
  const { baseUrl, basePath, issuer, cookieKeys } = config;
  const settings = () => deps.domains.settings.current();
  const api = apiOf(deps);
  const routes = adminRouteList(api);
  const answerApi = adminRoutes(api, routes);
  const perform = createPerform(createAuditTrail(api));
  const { call } = createCalls({ routes, perform });
  const importRun = createImportRun({ ...api, imports, call });
  const answerPages = createAdminUi({
    api,
    routes,
    perform,
    userImports: createImportDesk({ ...api, imports }),
    ...pages,
    readForm,
    signedIn: protocol.state.signedIn.ofBrowser,
    setActor: events.origins.setActor,
    strongAcr: ACR.multiFactor,
    addableFactors: () => ({
      passkey: settings().auth_mode !== 'password',
      app: settings().mfa_mode !== 'off',
    }),
    idleSeconds: () => settings().admin_idle_seconds,
    redeem: protocol.redeemCode,
    introspect: async (token) => {
      const { tokens } = protocol.state;
      return describeToken(await tokens.live(await tokens.find(token)), issuer);
    },
    testSignIns,
    cookieKeys,
    clock,
    baseUrl,
    basePath,
    issuer,
  });
  return {
    middleware: (ctx, next) => answerApi(ctx, async () => answerPages(ctx, next)),
    async goOnImporting(signal) {
      let rows = 0;
      for (const one of await imports.running()) rows += await importRun(one, signal);
      return rows;
    },
  };
}
