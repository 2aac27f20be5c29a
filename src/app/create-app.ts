// The composition root: calls the domains' constructors from the lowest floor to the highest (docs/architecture.md).
// createApp takes the outside world (configuration, store, clock, log) and returns the request handler, the
// background jobs, and the domains that scripts use.
import type { RequestListener } from 'node:http';
import { createOidcAdapter, isHandle } from '../../adapters/oidc.ts';
import { createInteractions, createKnownBrowsers } from '../../interactions/index.ts';
import {
  type Accounts,
  createAccountDomain,
  finishInterrupted,
  type HashParameters,
  removeDueAccounts,
} from '../accounts/index.ts';
import { createAdmin, resealReplies, resealUserImports } from '../admin/index.ts';
import { createAgents } from '../agents/index.ts';
import { createApiDomain } from '../apis/index.ts';
import { createAuditLogs } from '../audit/index.ts';
import { createAvatars } from '../avatars/index.ts';
import { type Clients, createClientDomain, prepareApplications } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import { createEvents } from '../events/index.ts';
import { createOneTime } from '../http/serving.ts';
import type { Scheduler } from '../jobs/index.ts';
import { createKeys, createResealing, createSealer, type Keys, type Resealing } from '../keys/index.ts';
import type { Logger } from '../log.ts';
import { createMail, resealMails } from '../mail/index.ts';
import { createAppMetrics } from '../metrics/index.ts';
import { subscribeNotices } from '../notifications/index.ts';
import {
  createAccountDirectory,
  createBearers,
  createConfirmSession,
  createFetchDocument,
  createLogoutDeliveries,
  createMount,
  createOutbound,
  createPlain,
  createProtocol,
  createProtocolRoutes,
  createProtocolState,
  createReadCalledAddresses,
  createRedeemCode,
  createRevokeToken,
  createTokenPreview,
  createValidateMetadata,
} from '../oidc/index.ts';
import { createPasskeys } from '../passkeys/index.ts';
import { openPlaces } from '../places/index.ts';
import { createRateLimiting } from '../rate-limits/index.ts';
import { createRecovery } from '../recovery/index.ts';
import { createRegistration } from '../registration/index.ts';
import { createSecondFactors, resealTotp } from '../second-factors/index.ts';
import { createSelfService } from '../self-service/index.ts';
import { createSessionDomain } from '../sessions/index.ts';
import { resealSettings, type Settings, startSettings } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import { besideOthers } from '../store/known-members.ts';
import type { Store } from '../store/port.ts';
import { createHandler } from './http.ts';
import { createJobs } from './jobs.ts';
import { startPages } from './pages.ts';

export interface AppOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Only for tests in which hashing does not matter; default: decision 0014. */
  readonly hashParameters?: HashParameters;
  /** Whether this process is stopping; readiness then fails. */
  readonly isDraining?: () => boolean;
  /** The worker among the processes that share the port, for its metrics; default: the only one. */
  readonly worker?: string;
}

export interface App {
  readonly handler: RequestListener;
  readonly jobs: Scheduler;
  readonly accounts: Accounts;
  readonly clients: Clients;
  readonly settings: Settings;
  readonly keys: Keys;
  readonly resealing: Resealing;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { clock, log, version, hashParameters, isDraining } = options;
  const basePath = new URL(options.config.baseUrl).pathname.replace(/\/$/, '');
  const config = { ...options.config, basePath, version };
  const { baseUrl, secretKeys } = config;
  const events = createEvents();
  const { metrics, timed } = createAppMetrics({ ...options, events });
  const store = besideOthers(timed, events);
  const sealer = createSealer(secretKeys);
  const settings = await startSettings({ ...config, store, sealer, clock, log });
  const placeOf = await openPlaces(config.geoipFile);
  const base = { store, clock, settings: () => settings.current(), events, placeOf };
  const audit = createAuditLogs({ store, clock, events, log });
  const keys = createKeys({ ...base, sealer, log });
  const { branding, views, csrf, ofMails } = await startPages({ ...base, current: settings, config });
  const rateLimiting = createRateLimiting({ ...base, log });
  const { limits } = rateLimiting;
  const sessionDomain = createSessionDomain(base);
  const { grants, sessions } = sessionDomain;
  const oneTime = createOneTime({ collection: store.ephemeral(model.oneTime), sealer, clock });
  const pages = { views, csrf, oneTime, sealer };

  const accountDomain = createAccountDomain({
    ...base,
    limits,
    sessions,
    log,
    config: { baseUrl, hashParameters },
  });
  const { accounts, groups, signIns } = accountDomain;
  const avatars = createAvatars({ ...base, accounts, limits });
  const mail = createMail({ ...base, ...ofMails, sealer, baseUrl, log });
  const mount = createMount();
  const outbound = createOutbound({ ...config, store });
  const clientDomain = createClientDomain({
    ...base,
    log,
    baseUrl,
    validateMetadata: createValidateMetadata(mount),
    endClient: grants.revokeOfClient,
    missingGroups: groups.missing,
    mayBePlain: outbound.mayBePlain,
  });
  const { clients, apiKeys, isRegisteredOrigin } = clientDomain;
  const apis = createApiDomain({ ...base, issuer: config.issuer, clients, groups });
  const agents = createAgents({
    ...base,
    log,
    clients: clientDomain,
    limits,
    fetchDocument: createFetchDocument(outbound.fetch),
  });
  const logoutDeliveries = createLogoutDeliveries({ ...base, clients, mount, limits, log });
  const secondFactors = createSecondFactors({ ...base, secretKeys, sealer, accounts, mail });
  const passkeys = createPasskeys({ ...base, baseUrl, accounts });
  const factors = { secondFactors, passkeys };
  const recovery = createRecovery({ ...base, ...factors, baseUrl, accounts, signIns, mail, limits });
  const registration = createRegistration({ ...base, config, accounts, clients, mail, recovery, limits });
  subscribeNotices({ events, accounts, mail, limits, clock, baseUrl: config.baseUrl, log });
  const directory = createAccountDirectory({ ...base, config, domain: accountDomain });
  const confirmSession = createConfirmSession({ domain: accountDomain, sessions });
  const state = createProtocolState({ ...base, mount, directory, clients, apis, baseUrl, secretKeys });
  const bearers = createBearers({ ...base, ...config, state, directory, clients, apiKeys, limits, log });
  const revokeToken = createRevokeToken({ revokeGrant: grants.revoke, events });
  const knownBrowsers = createKnownBrowsers({ signIns, baseUrl });
  const previewTokens = createTokenPreview({ ...base, mount, accounts: directory, apis });
  const redeemCode = createRedeemCode({ ...base, mount, accounts: directory, apis });
  const readCalledAddresses = createReadCalledAddresses(outbound);
  const calls = { logoutDeliveries, readCalledAddresses, previewTokens, redeemCode };
  const protocolParts = { mount, state, directory, bearers, confirmSession, ...calls };
  const parts = { ...base, config, pages, protocol: protocolParts };
  const interactions = createInteractions({
    ...parts,
    knownBrowsers,
    domains: {
      accounts: accountDomain,
      sessions: sessionDomain,
      secondFactors,
      passkeys,
      recovery,
      registration,
      apis,
    },
  });
  const useKeys = createProtocol({
    ...base,
    mount,
    config,
    adapter: createOidcAdapter({ store, clock }),
    isHandle,
    outbound: outbound.fetch,
    accounts: { directory, authenticate: accountDomain.authenticate, confirmSession },
    clients,
    apis,
    sessions: sessionDomain,
    guards: rateLimiting.guards,
    tokens: state.tokens,
    browser: state.browser,
    revokeToken,
    codeRedeemed: clientDomain.codeExchanges.redeemed,
    log,
    pages: interactions.protocolPages,
    csrf,
  });
  await prepareApplications({ ...base, clients, baseUrl, log, startProtocol: () => keys.start(useKeys) });

  const protocol = createProtocolRoutes({
    clock,
    settings: base.settings,
    outbound: outbound.fetch,
    mount,
    config,
    state,
    bearers,
    revokeToken,
    clients,
    apis,
    sessions,
    grants: sessionDomain.grants,
    limits,
    agents,
    chargeRefusedClient: rateLimiting.guards.chargeRefusedClient,
    events,
    log,
    logoutPages: interactions.logoutPages,
  });
  const read = { apis, accounts: directory, settings, isRegisteredOrigin };
  const plain = createPlain({ config, mount, state, bearers, events, limits, ...read });
  const admin = createAdmin({
    ...parts,
    domains: {
      accounts: accountDomain,
      clients: clientDomain,
      apis,
      sessions: sessionDomain,
      avatars,
      settings,
      branding,
      keys,
      sealer,
      mail,
      secondFactors,
      passkeys,
      recovery,
      registration,
      audit,
    },
  });
  const selfService = createSelfService({
    ...parts,
    knownBrowsers,
    domains: {
      accounts: accountDomain,
      clients: clientDomain,
      apis,
      sessions: sessionDomain,
      avatars,
      mail,
      passkeys,
      secondFactors,
      recovery,
      audit,
      rateLimiting,
    },
  });
  const handler = createHandler({
    ...base,
    config,
    log,
    metrics,
    isDraining,
    settings,
    branding,
    origins: events.origins,
    rateLimiting,
    views,
    passkeyOrigins: passkeys.origins,
    keys,
    mount,
    plain,
    hasOrigin: state.hasOrigin,
    isRegisteredOrigin,
    interactions,
    protocol,
    admin,
    selfService,
  });
  const resealing = createResealing({
    store,
    sealer,
    secretKeys,
    domains: [keys.reseal, resealSettings, resealTotp, resealMails, resealReplies, resealUserImports],
  });
  const jobs = createJobs({
    base: { ...base, log },
    audit,
    refusals: clientDomain.refusals,
    jobs: [
      ...mail.jobs,
      ...keys.jobs,
      ...resealing.jobs,
      ...sessionDomain.jobs,
      ...logoutDeliveries.jobs,
      ...agents.jobs,
      ...admin.jobs,
      removeDueAccounts({ accounts, settings: base.settings }),
      finishInterrupted({ accounts, groups, clients, apis, sessions, settings: base.settings }),
    ],
    // `mount.ready`: for the legacy profile.
    beforeTick: () => settings.refresh().then(branding.looks.refresh).then(keys.ready).then(mount.ready),
  });
  return { handler, jobs, accounts, clients, settings, keys, resealing };
}
