// Starts the real application for a test: real HTTP on a free port, a real store, a movable clock.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, createApp } from '../../src/app/create-app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createHttpServer, type HttpServer, listen, stopServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/log.ts';
import { settingKeys } from '../../src/model/settings/settings.ts';
import type { Store } from '../../src/store/port.ts';
import { assertDeclared, watchAdminApi } from './api-check.ts';
import { openTestStore, type StoreKind } from './test-store.ts';

export const ADMIN_TOKEN = 'test-admin-token-0123456789-0123456789';
export const PASSWORD = 'correct horse battery staple';
/** Of applications that share a store; others make their own. */
export const SECRET_KEY = 'test-secret-key-0123456789-0123456789';

/** What an administrator does over the API. */
export interface Operator {
  /** The admin API with ADMIN_TOKEN. */
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: AdminBody }>;
  /** A client by the admin API; `secret` is '' for a public one. */
  register(metadata?: Record<string, unknown>): Promise<{ id: string; secret: string }>;
  createUser(username: string, fields?: Record<string, unknown>): Promise<{ id: string; username: string }>;
}

export interface TestApp extends Operator {
  /** BASE_URL, without a trailing slash. */
  readonly url: string;
  readonly issuer: string;
  readonly app: App;
  readonly store: Store;
  /** Finished log lines. */
  readonly logged: string[];
  /** DATA_DIR; with `store: 'sqlite'` the file is latchkey.db in it. */
  readonly dataDir: string;
  /** Moves our clock (store expiry, lockout, settings); the protocol core keeps the machine's. */
  advance(ms: number): void;
  /** Epoch milliseconds of our clock. */
  now(): number;
  stop(): Promise<void>;
}

export interface AdminBody {
  readonly data: Record<string, unknown> & {
    readonly id?: string;
    readonly items?: Record<string, unknown>[];
  };
  readonly error?: {
    readonly code: number;
    readonly reason: string;
    readonly fields?: Record<string, string>;
  };
}

export interface TestAppOptions {
  /** `mongodb` and `split` need servers: see test-store.ts. */
  readonly store?: StoreKind;
  /** Use this store, which the caller closes. */
  readonly shared?: Store;
  readonly env?: Record<string, string>;
  readonly path?: string;
  readonly port?: number;
  /** `shipped`: hashes cost what they cost in production; default: next to nothing. */
  readonly hashes?: 'shipped';
  /** `shipped`: the rate limits as they are by default; default: so high that no test meets them by chance. */
  readonly limits?: 'shipped';
}

export const REDIRECT_URI = 'https://rp.example/callback';

/** Of a first-party application that calls the account API. */
export const opensAccounts = { scope: 'openid profile email offline_access roles groups account' };

const limitKeys = settingKeys.filter((key) => key.startsWith('limit_'));
const generousLimits = Object.fromEntries(limitKeys.map((key) => [key, 1_000_000]));

/** Enough of the algorithm to be real, little enough not to be the test's whole time. */
const CHEAP_HASHES = { memoryKib: 64, passes: 1, lanes: 1 };

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  let offset = 0;
  const clock = (): number => Date.now() + offset;
  const logged: string[] = [];
  const store = options.shared ?? (await openTestStore({ asked: options.store, clock, folder }));

  // The port must be known before the application is built, since BASE_URL shapes every address.
  let handler: App['handler'] | undefined;
  let server: HttpServer | undefined;
  server = createHttpServer({ handler: (request, response) => handler?.(request, response) });
  const port = await listen(server, { port: options.port ?? 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${port}${options.path ?? ''}`;
  const config = loadConfig({
    PORT: String(port),
    BASE_URL: url,
    DATA_DIR: folder,
    ADMIN_TOKEN,
    LOG_LEVEL: 'debug',
    ...(options.shared && { SECRET_KEY }),
    // Said by test/flows-on/plain-off.test.ts.
    PLAIN_ANSWERS: process.env.TEST_PLAIN_ANSWERS ?? 'on',
    ...options.env,
  });
  const listening = server;
  const app = await createApp({
    config,
    store,
    clock,
    version: 'test',
    log: createLogger({
      level: 'debug',
      pretty: false,
      destination: { write: (line) => void logged.push(line) },
    }),
    ...(options.hashes !== 'shipped' && { hashParameters: CHEAP_HASHES }),
    isDraining: () => server?.isDraining === true,
  }).catch(async (error: unknown) => {
    // A server left open would keep the test's process alive for ever.
    await stopServer(listening, { graceMs: 0 });
    throw error;
  });
  const watched = watchAdminApi(app.handler, options.path);
  handler = watched.handler;
  if (options.limits !== 'shipped') await app.settings.patch(generousLimits, 'test');

  return {
    ...createOperator(url),
    url,
    issuer: config.issuer,
    app,
    store,
    logged,
    dataDir: folder,
    now: clock,
    advance: (ms) => {
      offset += ms;
    },

    async stop() {
      await app.jobs.stop();
      if (server) await stopServer(server, { graceMs: 200 });
      if (!options.shared) await store.close();
      await rm(folder, { recursive: true, force: true });
      watched.assertRight();
    },
  };
}

/** @param url BASE_URL of a running application whose ADMIN_TOKEN is the tests' own */
export function createOperator(url: string): Operator {
  const operator: Operator = {
    async admin(method, path, body) {
      const response = await fetch(`${url}/admin/api${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      assertDeclared(method, path, response, text);
      return { status: response.status, body: text === '' ? { data: {} } : JSON.parse(text) };
    },

    async register(metadata = {}) {
      const { status, body } = await operator.admin('POST', '/clients', {
        client_name: 'Test application',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        skip_consent: true,
        ...metadata,
      });
      if (status !== 201) throw new Error(`client not registered: ${JSON.stringify(body)}`);
      return { id: String(body.data.client_id), secret: String(body.data.client_secret ?? '') };
    },

    async createUser(username, fields = {}) {
      const { status, body } = await operator.admin('POST', '/users', {
        username,
        password: PASSWORD,
        ...fields,
      });
      if (status !== 201) throw new Error(`user not created: ${JSON.stringify(body)}`);
      return { id: String(body.data.id), username };
    },
  };
  return operator;
}
