// What the tests of the admin API and of client registration share: an HTTP server with the real parts behind it
// (stores, accounts, clients, sessions, settings, the protocol core's client schema), and a caller.
import { ok } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Koa from 'koa';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createOidcAdapter } from '../../adapters/oidc.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { createCompleteSignIn } from '../../src/accounts/complete-sign-in.ts';
import type { Accounts } from '../../src/accounts/contract.ts';
import { createGroups, type Groups } from '../../src/accounts/groups.ts';
import { createImportAccount } from '../../src/accounts/import.ts';
import { createPasswords } from '../../src/accounts/passwords/password.ts';
import type { AdminPorts } from '../../src/admin/api/ports.ts';
import { createApiParts } from '../../src/admin/api-parts.ts';
import { adminRouteList, adminRoutes } from '../../src/admin/routes.ts';
import { type Apis, createApiDomain, createFindApiForGroup } from '../../src/apis/index.ts';
import { createAudit } from '../../src/audit/audit.ts';
import { createTokenLog } from '../../src/audit/token-log.ts';
import { createAvatars, createLookEncoder } from '../../src/avatars/index.ts';
import type { Base } from '../../src/base.ts';
import { startBranding } from '../../src/branding/index.ts';
import { createApiKeys } from '../../src/clients/api-keys.ts';
import { createClients } from '../../src/clients/clients.ts';
import type { Clients } from '../../src/clients/contract.ts';
import { createDefaultApis } from '../../src/clients/default-apis.ts';
import { createRecentRefusals } from '../../src/clients/recent-refusals.ts';
import { createFindRestricted } from '../../src/clients/restricted.ts';
import { systemClock } from '../../src/clock.ts';
import { AppError } from '../../src/errors.ts';
import { createEvents, type Events } from '../../src/events/index.ts';
import { readJson } from '../../src/http/body.ts';
import { errorBoundary } from '../../src/http/boundary.ts';
import { createRequestLog } from '../../src/http/request-log.ts';
import { createTimeSortedIds, newId, newSecret, secretDigest } from '../../src/ids.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { createSigningKeys } from '../../src/keys/signing-keys.ts';
import { createLogger } from '../../src/log.ts';
import { createMail, type Mail } from '../../src/mail/index.ts';
import { createLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts';
import { normalizeMetadata } from '../../src/oidc/models/client.ts';
import { createReadCalledAddresses } from '../../src/oidc/outbound/called-addresses.ts';
import { createOutbound } from '../../src/oidc/outbound/outbound.ts';
import { ProviderBase } from '../../src/oidc/provider-base.ts';
import { registrationRoutes } from '../../src/oidc/requests/registration.ts';
import { createPasskeys } from '../../src/passkeys/index.ts';
import { createRateLimits } from '../../src/rate-limits/limits.ts';
import { createRecovery } from '../../src/recovery/index.ts';
import { createRegistration } from '../../src/registration/index.ts';
import { createSecondFactors, type TrustedDevices } from '../../src/second-factors/index.ts';
import { createGrants } from '../../src/sessions/grants.ts';
import { createSessions, type Sessions } from '../../src/sessions/sessions.ts';
import { createSettings } from '../../src/settings/settings.ts';
import {
  apiKeys as apiKeyRecords,
  groups as groupRecords,
  tokenEvents,
} from '../../src/store/administration.ts';
import { apis as apiRecords } from '../../src/store/apis.ts';
import * as model from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { watchAdminApi } from '../support/api-check.ts';
import { ADMIN, type Answer, type CallOptions, send, USER } from './answers.ts';

export const goodPassword = 'seven tall lanterns';

// The schema that registrations go through in production, with the algorithms and scopes of the real configuration.
const provider = new ProviderBase('https://id.example.com/oauth2', {
  adapter: createOidcAdapter({ store: createMemoryStore({ clock: systemClock }), clock: systemClock }),
  jwks: { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })] },
  scopes: [
    'openid',
    'profile',
    'email',
    'phone',
    'address',
    'offline_access',
    'roles',
    'groups',
    'admin',
    'admin:read',
  ],
  responseTypes: ['code'],
  subjectTypes: ['public'],
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
  features: {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
});
provider.registerGrantType('password', () => undefined);

export interface World {
  readonly url: string;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly clients: Clients;
  readonly groups: Groups;
  readonly apis: Apis;
  readonly events: Pick<Events, 'on'>;
  readonly sessions: Sessions;
  readonly trustedDevices: TrustedDevices;
  readonly mail: Mail;
  now(): number;
  advance(ms: number): void;
  /** Calls any address. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Calls the admin API; every answer is checked against the OpenAPI document (test/support/api-check.ts). */
  api(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
}

const BASE_URL = 'https://id.example.com';

async function run(store: Store, time: Clockwork, act: (world: World) => Promise<void>): Promise<void> {
  const clock = time.now;
  const events = createEvents();
  const grants = createGrants({ store });
  const sessions = createSessions({ store, clock, grants, events });
  events.on('accountRemoving', ({ accountId }) => grants.revokeOfAccount(accountId));
  const accounts = createAccounts({
    collection: store.collection(model.accounts),
    facts: store.collection(model.facts),
    clock,
    newId,
    passwords: createPasswords({
      parameters: { memoryKib: 8, passes: 1, lanes: 1 },
      maxInFlight: 2,
      maxQueued: 100,
    }),
    minPasswordLength: () => 8,
    settings: () => ({ auth_mode: 'password', mfa_mode: 'optional' }),
    endSessions: (id) => sessions.endAllOf(id),
    events,
  });
  const groups = createGroups({
    collection: store.collection(groupRecords),
    accounts: store.collection(model.accounts),
    clock,
    findRestricted: createFindRestricted(store.collection(model.clients)),
    findApi: createFindApiForGroup(store.collection(apiRecords)),
  });
  const defaultApis = createDefaultApis({
    apis: store.collection(apiRecords),
    clients: store.collection(model.clients),
  });
  events.on('apiRemoving', ({ apiId }) => defaultApis.forget(apiId));
  const clients = createClients({
    collection: store.collection(model.clients),
    initialAccessTokens: store.collection(model.initialAccessTokens),
    clock,
    newId,
    newSecret,
    secretDigest,
    validateMetadata: async (metadata) => normalizeMetadata(provider.Client, metadata),
    endClient: (id) => grants.revokeOfClient(id),
    clientRemoving: (clientId) => events.emitAndWait('clientRemoving', { clientId }),
    missingGroups: groups.missing,
    findApi: defaultApis.find,
  });
  const apis = createApiDomain({
    store,
    clock,
    events,
    clients,
    groups,
    issuer: `${BASE_URL}/oauth2`,
  });
  const sealer = createSealer(['test-secret-key-0123456789-0123456789']);
  const log = createLogger({ level: 'error', pretty: false });
  const settings = createSettings({
    collection: store.collection(model.settings),
    sealer,
    clock,
    stamp: () => 0,
  });
  const branding = await startBranding({ store, clock, settings, events, encode: createLookEncoder() });
  const authorizeAdmin: AdminPorts['authorizeAdmin'] = async (ctx) => {
    const authorization = ctx.get('Authorization');
    if (authorization === '') throw new AppError('auth.required');
    if (authorization === `Bearer ${USER}`) throw new AppError('auth.insufficient_scope');
    if (authorization !== `Bearer ${ADMIN}`) throw new AppError('auth.invalid_token');
    return { kind: 'bootstrap', id: 'ADMIN_TOKEN', access: 'all' };
  };
  const limits = createRateLimits({
    collection: store.ephemeral(model.rates),
    clock,
    settings: () => settings.current(),
    log,
  });
  const base: Base = {
    ...{ store, clock, events, sealer, log },
    ...{ baseUrl: BASE_URL, basePath: '', issuer: `${BASE_URL}/oauth2`, version: '0.0.0' },
    secretKeys: ['test-secret-key-0123456789-0123456789'],
    cookieKeys: ['a key for cursors in tests'],
    settings: () => settings.current(),
    placeOf: () => undefined,
  };
  const mail = createMail(base);
  const passkeys = createPasskeys({ ...base, accounts });
  const doors = { ...base, accounts, clients, mail, limits, passkeys };
  const avatars = createAvatars(doors);
  const secondFactors = createSecondFactors(doors);
  const { trustedDevices } = secondFactors;
  const signIns = createCompleteSignIn({ collection: store.collection(model.accounts), clock });
  const recovery = createRecovery({ ...doors, secondFactors, signIns });
  const registration = createRegistration({ ...doors, recovery });
  const deps: Parameters<typeof adminRoutes>[0] = {
    accounts,
    clients,
    // What is sent and called has tests in test/flows and test/attacks.
    logoutDeliveries: createLogoutDeliveries({
      store,
      clock,
      events,
      clients,
      mount: { sendLogoutToken: async () => ({ problem: 'no_address' }) },
      limits: { consume: async () => ({ giveBack: () => undefined }) },
      log,
    }),
    readCalledAddresses: createReadCalledAddresses(
      createOutbound({
        outboundAllow: [],
        baseUrl: BASE_URL,
        port: 0,
        mongodbUri: undefined,
        redisUrl: undefined,
        store,
      }),
    ),
    // There is no provider here: test/flows/token-preview.test.ts.
    previewTokens: async () => undefined,
    apis,
    refusals: createRecentRefusals({
      collection: store.ephemeral(model.clientRefusals),
      clients: store.collection(model.clients),
      clock,
      log,
    }),
    groups,
    ...createApiParts({ ...base, grants }),
    importAccount: createImportAccount({
      collection: store.collection(model.accounts),
      groups,
      noteHash: async () => {},
      clock,
      newId,
    }),
    apiKeys: createApiKeys({
      events,
      collection: store.collection(apiKeyRecords),
      clock,
      newId,
      newSecret,
      secretDigest,
    }),
    sessions,
    settingsInStore: settings,
    ...branding,
    keys: createSigningKeys({ collection: store.collection(model.signingKeys), sealer, clock }),
    mail,
    ...{ avatars, passkeys, recovery, registration, secondFactors },
    placeOf: () => undefined,
    events,
    audit: createAudit({
      collection: store.collection(model.audit),
      clock,
      newId: createTimeSortedIds(clock),
      events,
      log,
    }),
    tokenLog: createTokenLog({
      collection: store.collection(tokenEvents),
      clock,
      newId: createTimeSortedIds(clock),
      log,
    }),
    authorizeAdmin,
    clock,
    baseUrl: BASE_URL,
    version: '0.0.0',
  };
  const app = new Koa();
  app.use(createRequestLog({ log: createLogger({ level: 'silent' }), newId }).middleware);
  app.use(
    errorBoundary({
      log: createLogger({ level: 'error', pretty: false }),
      sendErrorPage: (ctx, { message }) => {
        ctx.body = message;
      },
    }),
  );
  app.use(adminRoutes(deps, adminRouteList(deps)));
  app.use(
    registrationRoutes({
      events,
      clients,
      admitStranger: async () => false,
      checkName: async () => undefined,
      authorizeAdmin,
      readJson,
      path: '/oauth2/register',
      publicUrl: `${BASE_URL}/oauth2/register`,
    }),
  );
  const watched = watchAdminApi(app.callback());
  const server = createServer(watched.handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}`;
  try {
    await act({
      ...time,
      url,
      store,
      accounts,
      clients,
      groups,
      apis,
      events,
      sessions,
      trustedDevices,
      mail,
      call: (method, path, body, options = {}) => send(url + path, method, body, options),
      api: (method, path, body, options = {}) => send(`${url}/admin/api${path}`, method, body, options),
    });
    watched.assertRight();
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

interface Clockwork {
  now(): number;
  advance(ms: number): void;
}

function movableClock(): Clockwork {
  let now = Date.UTC(2026, 0, 31, 12);
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** Runs the test over HTTP with the reference store behind. */
export function withServer(name: string, act: (world: World) => Promise<void>): void {
  test(name, async () => {
    const time = movableClock();
    await run(createMemoryStore({ clock: time.now }), time, act);
  });
}

/** Runs the test over HTTP once with each store behind. */
export function withEachServer(name: string, act: (world: World) => Promise<void>): void {
  withServer(`memory: ${name}`, act);
  test(`sqlite: ${name}`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-admin-'));
    const time = movableClock();
    const store = createSqliteStore({ file: join(directory, 'test.db'), clock: time.now });
    try {
      await run(store, time, act);
    } finally {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
}
