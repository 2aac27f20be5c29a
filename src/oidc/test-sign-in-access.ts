// What the Admin UI runs test sign-ins with: the records of those that were started, the exceptions that the core makes for
// them (test-sign-in-gate.ts), and a look at the token that one obtained.
import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import { newSecret, secretDigest } from '../ids.ts';
import { testSignIns } from '../store/administration.ts';
import type { Store } from '../store/port.ts';
import { admitTestSignIns, markTestSignInExchange, testSignInRedirectUri } from './test-sign-in-gate.ts';
import { createTestSignIns, type TestSignIns } from './test-sign-ins.ts';
import { describeToken, type TokenState } from './token-state.ts';

interface Deps {
  readonly store: Pick<Store, 'ephemeral'>;
  readonly clock: Clock;
  readonly tokens: TokenState;
  readonly config: {
    readonly baseUrl: string;
    readonly issuer: string;
    readonly cookieKeys: readonly string[];
  };
}

export interface TestSignInAccess {
  readonly started: TestSignIns;
  readonly redirectUri: string;
  /**
   * Must run before the protocol's routes.
   * @param isStarted whether a signed-in administrator started exactly this request, in this browser and session
   */
  gate(isStarted: (ctx: Koa.Context, query: URLSearchParams) => Promise<boolean>): Koa.Middleware;
  /** @param request an injected request to the token endpoint */
  markExchange(request: Koa.Context['req'], clientId: string): void;
  /** The introspection response for an access token. */
  introspect(accessToken: string): Promise<Record<string, unknown>>;
}

export function createTestSignInAccess({ store, clock, tokens, config }: Deps): TestSignInAccess {
  const redirectUri = testSignInRedirectUri(config.baseUrl);
  return {
    started: createTestSignIns({
      collection: store.ephemeral(testSignIns),
      clock,
      newSecret,
      secretDigest,
      key: config.cookieKeys[0] ?? '',
    }),
    redirectUri,
    gate: (isStarted) => admitTestSignIns({ redirectUri, isBegun: isStarted }),
    markExchange: markTestSignInExchange,
    introspect: async (token) => describeToken(await tokens.live(await tokens.find(token)), config.issuer),
  };
}
