// Owns putting the product together: the only file that builds things. createApp takes the outside world (configuration,
// store, clock, log) and gives one request handler, the background jobs, and the domains that scripts use.
import type { RequestListener } from 'node:http';
import { createOidcAdapter, isHandle } from '../../adapters/oidc.ts';
import { createInteractions } from '../../interactions/routes.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { HashParameters } from '../accounts/passwords/password.ts';
import { minPasswordLength } from '../accounts/passwords/password-rules.ts';
import { createClients } from '../clients/clients.ts';
import { seedConsoleClient } from '../clients/console-client.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import { createEvents } from '../events/index.ts';
import { readForm, readJson } from '../http/body.ts';
import { createCsrf } from '../http/csrf.ts';
import { pinOrigin } from '../http/origin.ts';
import { securityHeaderValues } from '../http/security-headers.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import { createSealer } from '../keys/sealing.ts';
import type { KeySet } from '../keys/signing-keys.ts';
import type { Logger } from '../log.ts';
import { createAppMetrics } from '../metrics/index.ts';
import { cookieNamesFor, createBrowserSession } from '../oidc/browser-session.ts';
import { createProvider, type MountedProvider } from '../oidc/create-provider.ts';
import { normalizeMetadata } from '../oidc/models/client.ts';
import { registerPasswordGrant } from '../oidc/password-grant.ts';
import { createRevokeToken } from '../oidc/revocation.ts';
import { createTokenState } from '../oidc/token-state.ts';
import { createRecovery } from '../recovery/index.ts';
import { createRegistration } from '../registration/index.ts';
import type { Settings } from '../settings/settings.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { themeOf } from '../views/theme.ts';
import { createViews } from '../views/views.ts';
import { createAccountParts } from './accounts.ts';
import { createFactors } from './factors.ts';
import { createHandler } from './http.ts';
import { createJobs } from './jobs.ts';
import { createKeys, type Keys, protocolKeys } from './keys.ts';
import { createPasskeyApp } from './passkeys.ts';
import { createProtection } from './protection.ts';
import { startSettings } from './settings.ts';

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

  const protection = createProtection({
    store,
    clock,
    log,
    baseUrl,
    events,
    settings: current,
  });
  const { audit } = protection;

  const factors = createFactors({
    store,
    config,
    basePath,
    isSecure,
    clock,
    log,
    sealer,
    current,
    accounts: () => accounts,
    protection,
  });
  const passkeys = createPasskeyApp({
    store,
    baseUrl,
    basePath,
    clock,
    current,
    accounts: () => accounts,
    factors,
    audit,
    limits: protection.limits,
  });
  const { grants, sessions, consents, groups, accounts, directory, confirmSession, ...signIn } =
    createAccountParts({
      store,
      clock,
      current,
      baseUrl,
      protection,
      ...(options.hashParameters && { hashParameters: options.hashParameters }),
    });
  events.on('sessionEnded', tellClients);

  const authenticate = passkeys.guardPasswords(signIn.authenticate);

  // --- applications and the protocol core ----------------------------------------------------------------------------
  const clients = createClients({
    collection: store.collection(model.clients),
    initialAccessTokens: store.collection(model.initialAccessTokens),
    clock,
    newId,
    newSecret,
    secretDigest,
    validateMetadata: async (metadata) => normalizeMetadata(mounted.provider.Client, metadata),
    endClient: (clientId) => grants.revokeOfClient(clientId),
    missingGroups: groups.missing,
    baseUrl,
  });
  const keyParts = createKeys({ config, store, clock, log, sealer, audit, current });
  const { mail } = factors;
  const { limits } = protection;
  const base = { store, clock, settings: current, events };
  const recovery = createRecovery({ ...base, baseUrl, accounts, mail, limits });
  const registration = createRegistration({ ...base, config, accounts, clients, mail, recovery, limits });
  for (const part of [factors, passkeys.passkeys])
    events.on('accountRemoving', ({ accountId }) => part.removeAllOf(accountId));
  const csrf = createCsrf({
    keys: config.cookieKeys,
    isSecure,
    cookiePath: basePath === '' ? '/' : basePath,
  });
  const views = createViews({ theme: () => themeOf(settings.current()), basePath });
  const pinned = { baseUrl, trustProxy: config.trustProxy, keys: config.cookieKeys };
  const provider = () => mounted.provider;
  const tokens = createTokenState({
    models: provider,
    jwt: () => mounted.jwt,
    accounts: directory,
    findClient: async (id) => (await clients.find(id))?.value,
  });
  const revokeToken = createRevokeToken({ revokeGrant: grants.revoke, events });
  const cookieNames = cookieNamesFor(isSecure);
  const browser = createBrowserSession({ provider, cookieNames, settings: current, clock });
  const interactions = createInteractions({
    provider,
    views,
    csrf,
    basePath,
    clock,
    browser,
    readForm,
    readJson,
    accounts,
    authenticate,
    consents,
    endSession: (uid) => sessions.end(uid),
    minPasswordLength: () => minPasswordLength(current()),
    signIn: factors.signIn,
    worth: directory,
    issuer,
    baseUrl,
    recovery,
    registration,
    passkey: passkeys.forPages,
  });

  /** All state is in the store: another key set means another provider, put in the place of the one before. */
  const build = (keySet: KeySet): Promise<MountedProvider> =>
    createProvider({
      issuer,
      baseUrl,
      basePath,
      clock,
      settings: current,
      accounts: directory,
      adapter: createOidcAdapter({ store, clock }),
      isHandle,
      ...protection.guards,
      cookieKeys: config.cookieKeys,
      cookieNames,
      keys: protocolKeys(keySet),
      tokens,
      revokeToken,
      findConsent: (accountId, clientId) => consents.find(accountId, clientId),
      findClient: (clientId) => clients.find(clientId),
      verifySecret: (record, presented) => clients.verifySecret(record, presented),
      browserDigest: (ctx) => secretDigest(csrf.browserId(ctx)),
      sessions: {
        collection: store.ephemeral(protocol.oidcSessions),
        clock,
        recordActivity: (activity) => sessions.note(activity),
        confirm: confirmSession,
      },
      graceSeconds: () => current().refresh_token_grace_seconds,
      revokeGrant: grants.revoke,
      events,
      codeIssued: protection.codeIssued,
      pages: interactions.protocolPages,
      pinOrigin: (app) => pinOrigin(app, pinned),
      documentHeaders: securityHeaderValues({ isSecure }),
      registerGrants: (made) =>
        registerPasswordGrant(made, { clock, accounts: directory, authenticate, revokeGrant: grants.revoke }),
    });

  const firstKeySet = await keyParts.load();
  let mounted = await build(firstKeySet);
  const keyring = keyParts.follow(firstKeySet, async (keySet) => {
    mounted = await build(keySet);
  });

  await seedConsoleClient({ clients, baseUrl });

  /** OIDC Back-Channel Logout §2.5; the session is over whether or not an application hears of it. */
  function tellClients(ended: { accountId: string; sids: ReadonlyMap<string, string> }): void {
    for (const [clientId, sid] of ended.sids) {
      void mounted.backchannelLogout(clientId, ended.accountId, sid).catch((error: unknown) => {
        log.warn({ client_id: clientId, err: error }, 'back-channel logout not delivered');
      });
    }
  }

  const handler = createHandler({
    ...options,
    basePath,
    store,
    metrics,
    sealer,
    settings,
    protection,
    accounts,
    groups,
    directory,
    clients,
    grants,
    sessions,
    ...signIn,
    confirmSession,
    tokens,
    revokeToken,
    browser,
    views,
    csrf,
    interactions,
    factors,
    recovery,
    registration,
    passkeys,
    mounted: () => mounted,
    keys: keyParts.keys,
    keyring,
  });
  const jobs = createJobs({
    store,
    clock,
    log,
    sessions,
    accounts,
    groups,
    clients,
    protection,
    factors,
    current,
    keyJobs: keyParts.jobs,
    catchUp: () => settings.refresh().then(keyring.ready),
  });
  return { handler, jobs, accounts, clients, settings, keys: keyParts.keys };
}
