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
import type { Base } from '../base.ts';
import { type Clients, createClientDomain, prepareApplications } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Domains } from '../domains.ts';
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
  type ProtocolDoors,
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
  const { config, clock, log, version, hashParameters, isDraining } = options;
  const { baseUrl, issuer, cookieKeys, secretKeys } = config;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const events = createEvents();
  const { metrics, timed } = createAppMetrics({ ...options, events });
  const store = besideOthers(timed, events);
  const sealer = createSealer(secretKeys);
  const settingsInStore = await startSettings({ ...config, store, sealer, clock, log, version });
  const settings = () => settingsInStore.current();
  const placeOf = await openPlaces(config.geoipFile);
  const site = { baseUrl, basePath, issuer, version, cookieKeys, secretKeys };
  const base: Base = { ...site, store, clock, log, events, settings, placeOf, sealer };
  const audit = createAuditLogs(base);
  const keys = createKeys(base);
  const { branding, views, csrf, ofMails } = await startPages({ ...base, settingsInStore });
  const rateLimiting = createRateLimiting(base);
  const { limits } = rateLimiting;
  const { jobs: sessionJobs, ...ofSessions } = createSessionDomain(base);
  const { grants, sessions } = ofSessions;
  const oneTime = createOneTime({ collection: store.ephemeral(model.oneTime), sealer, clock });

  const ofAccounts = createAccountDomain({ ...base, limits, sessions, hashParameters });
  const { accounts, groups, signIns } = ofAccounts;
  const avatars = createAvatars({ ...base, accounts, limits });
  const mail = createMail({ ...base, ...ofMails });
  const mount = createMount();
  const outbound = createOutbound({ ...config, store });
  const ofClients = createClientDomain({
    ...base,
    validateMetadata: createValidateMetadata(mount),
    endClient: grants.revokeOfClient,
    missingGroups: groups.missing,
    mayBePlain: outbound.mayBePlain,
  });
  const { clients } = ofClients;
  const apis = createApiDomain({ ...base, clients, groups });
  const agents = createAgents({ ...base, ...ofClients, limits }, createFetchDocument(outbound.fetch));
  const secondFactors = createSecondFactors({ ...base, accounts, mail });
  const passkeys = createPasskeys({ ...base, accounts });
  const recovery = createRecovery({ ...base, accounts, signIns, mail, limits, secondFactors, passkeys });
  const registration = createRegistration({ ...base, accounts, clients, mail, recovery, limits });
  subscribeNotices({ ...base, accounts, mail, limits });
  const domains: Domains = {
    ...base,
    ...rateLimiting,
    ...ofSessions,
    ...ofAccounts,
    ...ofClients,
    ...audit,
    ...branding,
    ...{ agents, apis, avatars, keys, mail, passkeys, recovery, registration, secondFactors },
    ...{ settingsInStore, views, csrf, oneTime },
  };

  const directory = createAccountDirectory(domains);
  const confirmSession = createConfirmSession(domains);
  const logoutDeliveries = createLogoutDeliveries({ ...domains, mount });
  const mounted = { ...domains, mount, directory };
  const state = createProtocolState(mounted);
  const protocolDoors: ProtocolDoors = {
    ...mounted,
    ...state,
    ...createBearers({ ...mounted, ...state, adminToken: config.adminToken }),
    ...{ confirmSession, logoutDeliveries, outbound },
    revokeToken: createRevokeToken({ revokeGrant: grants.revoke, events }),
    readCalledAddresses: createReadCalledAddresses(outbound),
    previewTokens: createTokenPreview(mounted),
    redeemCode: createRedeemCode(mounted),
  };
  const doors = { ...protocolDoors, browsers: createKnownBrowsers(domains) };
  const interactions = createInteractions(doors);
  const useKeys = createProtocol(protocolDoors, {
    adapter: createOidcAdapter({ store, clock }),
    isHandle,
    pages: interactions.protocolPages,
    trustProxy: config.trustProxy,
  });
  await prepareApplications({ ...domains, startProtocol: () => keys.start(useKeys) });

  const protocol = createProtocolRoutes(protocolDoors, interactions.logoutPages);
  const plain = createPlain(protocolDoors, config);
  const admin = createAdmin(doors);
  const selfService = createSelfService(doors);
  const handler = createHandler(protocolDoors, {
    config,
    metrics,
    isDraining,
    keys,
    passkeyOrigins: passkeys.origins,
    plain,
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
  const jobs = createJobs(domains, {
    jobs: [
      ...mail.jobs,
      ...keys.jobs,
      ...resealing.jobs,
      ...sessionJobs,
      ...logoutDeliveries.jobs,
      ...agents.jobs,
      ...admin.jobs,
      removeDueAccounts(domains),
      finishInterrupted(domains),
    ],
    // `mount.ready`: for the legacy profile.
    beforeTick: () =>
      settingsInStore.refresh().then(branding.looks.refresh).then(keys.ready).then(mount.ready),
  });
  return { handler, jobs, accounts, clients, settings: settingsInStore, keys, resealing };
}
