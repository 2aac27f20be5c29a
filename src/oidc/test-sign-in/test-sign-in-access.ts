// What the Admin UI runs test sign-ins with: the records of those that were started, the exceptions that the core makes for
// them (test-sign-in-gate.ts), and a look at the token that one obtained.
import type Koa from 'koa';
import type { Apis } from '../../apis/index.ts';
import type { Clients } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import { newSecret, secretDigest } from '../../ids.ts';
import { testSignIns } from '../../store/administration.ts';
import type { Store } from '../../store/port.ts';
import { describeToken, type TokenState } from '../tokens/token-state.ts';
import { admitTestSignIns, markTestSignInExchange, testSignInRedirectUri } from './test-sign-in-gate.ts';
import { createProofMaker, type MakeProof } from './test-sign-in-proofs.ts';
import { createTestSignIns, type TestSignIns } from './test-sign-ins.ts';

interface Deps {
  readonly store: Pick<Store, 'ephemeral'>;
  readonly clock: Clock;
  readonly tokens: TokenState;
  readonly clients: Pick<Clients, 'find'>;
  readonly apis: Pick<Apis, 'findByIdentifier'>;
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
  /**
   * Where tokens have to be bound to a key: `dpop_bound_access_tokens` of the application, `require_dpop` of the API.
   * @param resource the identifier of the API; undefined: none is asked for
   */
  proofsFor(clientId: string, resource: string | undefined): Promise<MakeProof | undefined>;
  /** The introspection response for an access token. */
  introspect(accessToken: string): Promise<Record<string, unknown>>;
}

export function createTestSignInAccess({
  store,
  clock,
  tokens,
  clients,
  apis,
  config,
}: Deps): TestSignInAccess {
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
    async proofsFor(clientId, resource) {
      const client = await clients.find(clientId);
      const api = resource === undefined ? undefined : await apis.findByIdentifier(resource);
      const isBound =
        client?.value.metadata.dpop_bound_access_tokens === true || api?.value.isDpopRequired === true;
      return isBound ? createProofMaker({ baseUrl: config.baseUrl, clock }) : undefined;
    },
    introspect: async (token) => describeToken(await tokens.live(await tokens.find(token)), config.issuer),
  };
}
