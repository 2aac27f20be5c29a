// Owns putting the product together: the only file that builds things. createApp takes the outside world (configuration,
// store, clock, log) and gives one request handler, the background jobs, and the domains that scripts use.
import type { RequestListener } from 'node:http';
import { createOidcAdapter, isHandle } from '../../adapters/oidc.ts';
import { createKnownBrowsers } from '../../interactions/known-browsers.ts';
import { createInteractions } from '../../interactions/routes.ts';
import { type Accounts, createAccountDomain, type HashParameters } from '../accounts/index.ts';
import { resealReplies } from '../admin/index.ts';
import { createAuditLogs } from '../audit/index.ts';
import { createClients } from '../clients/clients.ts';
import { seedConsoleClient } from '../clients/console-client.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import { createEvents } from '../events/index.ts';
import { readForm, readJson } from '../http/body.ts';
import { createCsrf } from '../http/csrf.ts';
import { createOneTime } from '../http/one-time.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import { createKeys, createResealing, createSealer, type Keys, type Resealing } from '../keys/index.ts';
import type { Logger } from '../log.ts';
import { createMail, resealMails } from '../mail/index.ts';
import { createAppMetrics } from '../metrics/index.ts';
import { subscribeNotices } from '../notifications/index.ts';
import { createAccountDirectory, createConfirmSession } from '../oidc/account-directory.ts';
import { createMount, createProtocol, createProtocolState } from '../oidc/index.ts';
import { normalizeMetadata } from '../oidc/models/client.ts';
import { createRevokeToken } from '../oidc/revocation.ts';
import { createPasskeys } from '../passkeys/index.ts';
import { createRateLimiting } from '../rate-limits/index.ts';
import { createRecovery } from '../recovery/index.ts';
import { createRegistration } from '../registration/index.ts';
import { createSecondFactors, resealTotp } from '../second-factors/index.ts';
import { createSessionDomain } from '../sessions/index.ts';
import { startSettings } from '../settings/index.ts';
import { resealSettings } from '../settings/reseal-settings.ts';
import type { Settings } from '../settings/settings.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { themeOf } from '../views/theme.ts';
import { createViews } from '../views/views.ts';
import { createHandler } from './http.ts';
import { createJobs } from './jobs.ts';

export interface AppOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** For tests, where hashing is not the point; default: decisions §8. */
  readonly hashParameters?: HashParameters;
  /** Whether this process was told to stop; readiness says so. */
  readonly isDraining?: () => boolean;
  /** Which of the processes that share the port, for its metrics; default: the only one. */
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
  const { config, clock, log } = options;
  const events = createEvents();
  const { metrics, timed: store } = createAppMetrics({ ...options, events });
  const { baseUrl, issuer } = config;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const isSecure = baseUrl.startsWith('https:');
  const sealer = createSealer(config.secretKeys);

  // --- settings, accounts, sessions ---------------------------------------------------------------------------------
  const settings = await startSettings({ store, sealer, clock, log, smtpUrl: config.smtpUrl });
  const current = () => settings.current();

  const { audit, tokenLog } = createAuditLogs({ store, clock, events, log });
  const { limits, openSignIns, guards } = createRateLimiting({ store, clock, settings: current, log });
  const { grants, sessions, consents } = createSessionDomain({ store, clock, events });
  const { accounts, groups, signIns, reportSignIn, authenticate, ...passwords } = createAccountDomain({
    store,
    clock,
    settings: current,
    events,
    limits,
    sessions,
    log,
    config: { baseUrl, hashParameters: options.hashParameters },
  });
  const knownBrowsers = createKnownBrowsers({ signIns, clock, baseUrl });
  const directory = createAccountDirectory({ accounts, signIns, reportSignIn, settings: current, clock });
  const confirmSession = createConfirmSession({ accounts, sessions });
  const mount = createMount({ events, log });

  // --- applications and the protocol core ----------------------------------------------------------------------------
  const clients = createClients({
    collection: store.collection(model.clients),
    initialAccessTokens: store.collection(model.initialAccessTokens),
    clock,
    newId,
    newSecret,
    secretDigest,
    validateMetadata: async (metadata) => normalizeMetadata(mount.provider.Client, metadata),
    endClient: (clientId) => grants.revokeOfClient(clientId),
    missingGroups: groups.missing,
    baseUrl,
  });
  const keys = createKeys({ store, sealer, clock, settings: current, events, log });
  const resealing = createResealing({
    store,
    sealer,
    secretKeys: config.secretKeys,
    domains: [keys.reseal, resealSettings, resealTotp, resealMails, resealReplies],
  });
  const base = { store, clock, settings: current, events };
  const mail = createMail({ ...base, sealer, baseUrl, log });
  const { secretKeys } = config;
  const secondFactors = createSecondFactors({ ...base, secretKeys, sealer, accounts, mail });
  const passkeys = createPasskeys({ ...base, baseUrl, accounts });
  const recovery = createRecovery({ ...base, baseUrl, accounts, mail, secondFactors, limits });
  const registration = createRegistration({ ...base, config, accounts, clients, mail, recovery, limits });
  subscribeNotices({ events, accounts, mail, clock, log });
  const oneTime = createOneTime({ collection: store.ephemeral(model.oneTime), sealer, clock });
  const csrf = createCsrf({
    keys: config.cookieKeys,
    isSecure,
    cookiePath: basePath === '' ? '/' : basePath,
  });
  const views = createViews({ theme: () => themeOf(settings.current()), basePath });
  const state = createProtocolState({ mount, directory, clients, baseUrl, settings: current, clock });
  const revokeToken = createRevokeToken({ revokeGrant: grants.revoke, events });
  const interactions = createInteractions({
    provider: () => mount.provider,
    views,
    csrf,
    basePath,
    clock,
    browser: state.browser,
    readForm,
    readJson,
    accounts,
    authenticate,
    consents,
    endSession: (uid) => sessions.end(uid),
    settings: current,
    events,
    oneTime,
    knownBrowsers,
    reportSignIn,
    secondFactors,
    passkeys,
    worth: directory,
    issuer,
    baseUrl,
    recovery,
    registration,
  });

  const useKeys = createProtocol({
    mount,
    config: { ...config, basePath },
    store,
    clock,
    settings: current,
    adapter: createOidcAdapter({ store, clock }),
    isHandle,
    accounts: { directory, authenticate, confirmSession },
    clients,
    sessions: { sessions, grants, consents },
    guards,
    tokens: state.tokens,
    revokeToken,
    events,
    log,
    pages: interactions.protocolPages,
    csrf,
  });
  await keys.start(useKeys);

  await seedConsoleClient({ clients, baseUrl });

  const handler = createHandler({
    ...options,
    basePath,
    store,
    metrics,
    sealer,
    settings,
    events,
    audit,
    tokenLog,
    limits,
    openSignIns,
    knownBrowsers,
    accounts,
    groups,
    directory,
    clients,
    grants,
    sessions,
    ...passwords,
    confirmSession,
    state,
    revokeToken,
    views,
    csrf,
    interactions,
    mail,
    oneTime,
    secondFactors,
    recovery,
    registration,
    passkeys,
    mount,
    keys,
  });
  const jobs = createJobs({
    base: { ...base, log },
    sessions,
    accounts,
    groups,
    clients,
    audit: { audit, tokenLog },
    jobs: [...mail.jobs, ...keys.jobs, ...resealing.jobs],
    beforeTick: () => settings.refresh().then(keys.ready),
  });
  return { handler, jobs, accounts, clients, settings, keys, resealing };
}
