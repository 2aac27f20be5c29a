// The admin REST API (/admin/api) and the Admin UI (/admin), which does everything through the routes of the API. This
// domain owns the contract of routes, lists and pages, the resources, and test sign-ins. It does not own the rules of the
// data it administers: those belong to the domains below. Start with routes.ts (all routes) and console/create.ts.
import type Koa from 'koa';
import type { Account } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import { type InjectRequest, readForm } from '../http/index.ts';
import {
  ACR,
  type AccountDirectory,
  type BrowserSession,
  createTestSignInAccess,
  type SignedInUsers,
  type TokenState,
} from '../oidc/index.ts';
import type { Grants } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import { type ApiPartsDeps, createApiParts } from './api-parts.ts';
import { type AdminUiDeps, createAdminUi } from './console/create.ts';
import { type AdminRoutesDeps, adminRoutes } from './routes.ts';
import { createTestSignIn } from './test-sign-in/create.ts';

export { resealReplies } from './api/reseal-replies.ts';

/** Dependencies that are created here, not passed in. */
type Own =
  | keyof ReturnType<typeof createApiParts>
  | 'clock'
  | 'events'
  | 'cursorKey'
  | 'baseUrl'
  | 'basePath'
  | 'version';

export interface AdminDeps {
  readonly config: Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys'> & {
    readonly basePath: string;
    readonly version: string;
  };
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly events: Pick<Events, 'record'>;
  readonly pages: Pick<AdminUiDeps, 'views' | 'csrf' | 'oneTime'>;
  /** The domains to administer. */
  readonly domains: Omit<AdminRoutesDeps, Own> & Pick<ApiPartsDeps, 'sealer'>;
  readonly users: {
    readonly signedIn: Pick<SignedInUsers, 'ofBrowser'>;
    readonly directory: AccountDirectory<Account>;
    readonly setActor: AdminUiDeps['setActor'];
  };
  readonly protocol: {
    readonly browser: BrowserSession;
    readonly tokens: TokenState;
    readonly grants: Grants;
    readonly ask: InjectRequest;
  };
}

export interface Admin {
  /** Admits test sign-ins; must run before the protocol's routes. */
  readonly testSignInGate: Koa.Middleware;
  /** In the order in which they must run. */
  readonly middleware: readonly Koa.Middleware[];
}

export function createAdmin({ config, store, clock, settings, events, ...deps }: AdminDeps): Admin {
  const { domains, pages, users, protocol } = deps;
  const { baseUrl, basePath, issuer, cookieKeys, version } = config;
  const api: AdminRoutesDeps = {
    ...domains,
    ...createApiParts({ ...domains, store, clock, grants: protocol.grants }),
    clock,
    events,
    cursorKey: cookieKeys[0] ?? '',
    baseUrl,
    version,
  };
  const testSignIn = createTestSignIn({
    csrf: pages.csrf,
    ...users,
    ...protocol,
    access: createTestSignInAccess({ store, clock, config, tokens: protocol.tokens }),
    events,
  });
  return {
    testSignInGate: testSignIn.gate,
    middleware: [
      adminRoutes(api),
      createAdminUi({
        api,
        ...pages,
        readForm,
        signedIn: users.signedIn.ofBrowser,
        setActor: users.setActor,
        strongAcr: ACR.multiFactor,
        addableFactors: () => ({
          passkey: settings().auth_mode !== 'password',
          app: settings().mfa_mode !== 'off',
        }),
        idleSeconds: () => settings().admin_idle_seconds,
        ask: protocol.ask,
        testSignIn: testSignIn.forConsole,
        cookieKeys,
        clock,
        baseUrl,
        basePath,
        issuer,
      }),
    ],
  };
}
