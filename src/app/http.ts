// The order of everything that a request passes; create-app.ts builds the parts.
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import mountAt from 'koa-mount';
import { markFailedForms } from '../../interactions/current.ts';
import type { KnownBrowsers } from '../../interactions/known-browsers.ts';
import type { Interactions } from '../../interactions/routes.ts';
import type { Accounts, createAccountDomain, Groups } from '../accounts/index.ts';
import { createAdmin } from '../admin/index.ts';
import type { Audit, TokenLog } from '../audit/index.ts';
import { createApiKeys } from '../clients/api-keys.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import { readForm, readJson } from '../http/body.ts';
import { errorBoundary, logLateErrors } from '../http/boundary.ts';
import type { Csrf } from '../http/csrf.ts';
import { healthRoutes } from '../http/health.ts';
import { createInjector } from '../http/inject-request.ts';
import { createListener } from '../http/listener.ts';
import { metricsRoute } from '../http/metrics.ts';
import type { OneTime } from '../http/one-time.ts';
import { pinOrigin } from '../http/origin.ts';
import { limitByAddress } from '../http/rate-middleware.ts';
import { refreshSettings } from '../http/refresh-settings.ts';
import { relatedOrigins } from '../http/related-origins.ts';
import { requestLog } from '../http/request-log.ts';
import { requestOrigin } from '../http/request-origin.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { KeysInUse, Sealer } from '../keys/index.ts';
import type { Logger } from '../log.ts';
import type { Mail } from '../mail/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { ConfirmSession } from '../oidc/account-directory.ts';
import { createAuthorizeAdmin } from '../oidc/admin-bearer.ts';
import { aliases } from '../oidc/aliases.ts';
import { createBearerGuard } from '../oidc/bearer-guard.ts';
import type { AccountDirectory } from '../oidc/find-account.ts';
import type { ProtocolMount, ProtocolState } from '../oidc/index.ts';
import { registrationRoutes } from '../oidc/registration.ts';
import { protocolRoutes } from '../oidc/routes.ts';
import type { AnyToken } from '../oidc/token-state.ts';
import { createAuthorizeUser } from '../oidc/user-bearer.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { OpenSignIns, RateLimits } from '../rate-limits/index.ts';
import type { Recovery } from '../recovery/index.ts';
import type { Registration } from '../registration/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import { createSelfService } from '../self-service/index.ts';
import type { Grants, Sessions } from '../sessions/index.ts';
import { createApplicationAccess } from '../sessions/index.ts';
import type { Settings } from '../settings/settings.ts';
import { apiKeys as apiKeyRecords } from '../store/administration.ts';
import type { Store } from '../store/port.ts';
import type { Views } from '../views/views.ts';

/** What create-app.ts has built, each for the middleware that needs it. */
export interface HttpParts
  extends Pick<ReturnType<typeof createAccountDomain>, 'checkPassword' | 'importAccount'> {
  readonly config: Config;
  readonly version: string;
  readonly basePath: string;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly isDraining?: () => boolean;
  readonly settings: Settings;
  readonly events: Events;
  readonly audit: Audit;
  readonly tokenLog: TokenLog;
  readonly limits: RateLimits;
  readonly openSignIns: Pick<OpenSignIns, 'markInUse'>;
  readonly knownBrowsers: KnownBrowsers;
  readonly confirmSession: ConfirmSession;
  readonly accounts: Accounts;
  readonly groups: Groups;
  readonly directory: AccountDirectory<NonNullable<Awaited<ReturnType<Accounts['find']>>>>;
  readonly clients: Clients;
  readonly grants: Grants;
  readonly sessions: Sessions;
  readonly state: ProtocolState;
  readonly revokeToken: (token: AnyToken) => Promise<void>;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly interactions: Interactions;
  readonly mail: Mail;
  readonly oneTime: OneTime;
  readonly secondFactors: SecondFactors;
  readonly recovery: Recovery;
  readonly registration: Registration;
  readonly passkeys: Passkeys;
  readonly mount: ProtocolMount;
  readonly keys: KeysInUse;
}

export function createHandler(parts: HttpParts): RequestListener {
  const { config, basePath, clock, log, version, metrics, mount, revokeToken } = parts;
  const { audit, tokenLog, events, limits, openSignIns, knownBrowsers } = parts;
  const { origins } = events;
  const { settings, accounts, clients, sessions, interactions, secondFactors, passkeys, views, csrf } = parts;
  const { baseUrl, issuer } = config;
  const isSecure = baseUrl.startsWith('https:');
  const pinned = { baseUrl, trustProxy: config.trustProxy, keys: config.cookieKeys };

  const current = () => settings.current();
  const apiKeys = createApiKeys({
    collection: parts.store.collection(apiKeyRecords),
    clock,
    newId,
    newSecret,
    secretDigest,
    events,
  });
  const injector = createInjector();
  const { tokens, sessionOf, browser, signedIn } = parts.state;
  const findClient = async (id: string) => (await clients.find(id))?.value;
  const guard = createBearerGuard({ limits, events });
  const authorizeAdmin = createAuthorizeAdmin({
    adminToken: config.adminToken,
    tokens,
    accounts: parts.directory,
    findClient,
    sessionOf,
    useApiKey: apiKeys.use,
    guard,
  });
  const authorizeRequest = (ctx: Koa.Context, need: 'all' | 'read' = 'all') =>
    authorizeAdmin(ctx.get('authorization'), need);
  const pages = { views, csrf, oneTime: parts.oneTime };
  const admin = createAdmin({
    config: { ...config, basePath, version },
    store: parts.store,
    clock,
    settings: current,
    events,
    pages,
    domains: {
      accounts,
      clients,
      initialAccessTokens: clients.initialAccessTokens,
      sessions,
      settings,
      keys: parts.keys,
      mail: parts.mail,
      trustedDevices: secondFactors.trustedDevices,
      passkeys,
      sendPasswordReset: parts.recovery.sendPasswordReset,
      sendEmailVerification: parts.recovery.sendEmailVerification,
      sendEnrolmentLink: parts.registration.enrolment.sendLink,
      invitations: parts.registration.invitations,
      audit,
      tokenEvents: tokenLog,
      groups: parts.groups,
      apiKeys,
      authorizeAdmin: authorizeRequest,
      sealer: parts.sealer,
      importAccount: parts.importAccount,
    },
    users: { signedIn, directory: parts.directory, setActor: origins.setActor },
    protocol: { browser, tokens, grants: parts.grants, ask: injector.ask },
  });
  const app = new Koa();
  pinOrigin(app, pinned);
  logLateErrors(app, log);
  app.use(requestLog({ log, newId, onAnswered: metrics.answered }));
  app.use(securityHeaders({ isSecure }));
  app.use(errorBoundary({ log, sendErrorPage: interactions.sendErrorPage, basePath }));
  app.use(healthRoutes({ ping: () => parts.store.ping(), isDraining: parts.isDraining }));
  const { metricsToken: token, trustProxy } = config;
  app.use(metricsRoute({ token, baseUrl, trustProxy, text: metrics.text }));
  app.use(views.assetRoutes());
  app.use(relatedOrigins(() => passkeys.origins()));
  app.use(requestOrigin(origins));
  app.use(refreshSettings(settings));
  const site = new Koa();
  site.use(aliases);
  site.use(limitByAddress({ limits }));
  site.use(markFailedForms(openSignIns.markInUse));
  site.use(interactions.middleware);
  site.use(admin.testSignInGate);
  const protocol = protocolRoutes({
    mount,
    issuer,
    basePath,
    readForm,
    authorizeAdmin,
    tokens,
    revokeToken,
    browser,
    endSession: (uid, by) => sessions.end(uid, by),
    finishEnding: (ended) => sessions.finishEndingOf(ended),
    logoutPages: interactions.logoutPages,
    chargePublicRequest: (address) => limits.consume('public_requests_ip', address),
    refuseForeign: csrf.refuseForeign,
    registration: registrationRoutes({
      clients,
      events,
      authorizeAdmin: authorizeRequest,
      readJson,
      path: '/oauth2/register',
      publicUrl: `${baseUrl}/oauth2/register`,
    }),
  });
  for (const middleware of protocol) site.use(middleware);
  for (const middleware of admin.middleware) site.use(middleware);
  const selfService = createSelfService({
    site: { baseUrl, basePath },
    clock,
    settings: current,
    pages,
    users: {
      signedIn,
      authorize: createAuthorizeUser({ tokens, sessionOf, findClient, guard }),
      origins,
    },
    domains: {
      accounts,
      clients,
      sessions,
      access: createApplicationAccess({ store: parts.store, grants: parts.grants }),
      browser,
      passkeys,
      secondFactors,
      recovery: parts.recovery,
      audit,
      events,
      limits,
      knownBrowsers,
      passwords: { check: parts.checkPassword },
      confirmSession: parts.confirmSession,
    },
  });
  for (const middleware of selfService) site.use(middleware);
  app.use(mountAt(basePath === '' ? '/' : basePath, site));

  const listener = createListener({ respond: app.callback(), ready: parts.keys.ready, mount, metrics });
  injector.attach(listener);
  return listener;
}
