// Assembles test sign-ins ("Try it" in the Admin UI): the gate in front of the authorization endpoint, and what the Admin UI
// runs them with. src/oidc/test-sign-in-gate.ts defines what they may do.
import type Koa from 'koa';
import type { Account } from '../../accounts/index.ts';
import { createTestSignIns } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/types.ts';
import type { Csrf } from '../../http/index.ts';
import { newSecret, secretDigest } from '../../ids.ts';
import {
  type AccountDirectory,
  admitTestSignIns,
  type BrowserSession,
  describeToken,
  markTestSignInExchange,
  type TokenState,
  testSignInRedirectUri,
} from '../../oidc/index.ts';
import type { Grants } from '../../sessions/index.ts';
import * as administration from '../../store/administration.ts';
import type { Store } from '../../store/port.ts';
import type { TrialRunDeps } from './run.ts';

export interface TestSignInDeps {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly cookieKeys: Config['cookieKeys'];
  readonly store: Store;
  readonly clock: Clock;
  readonly csrf: Csrf;
  readonly browser: BrowserSession;
  readonly directory: AccountDirectory<Account>;
  readonly tokens: TokenState;
  readonly grants: Grants;
  readonly events: TrialRunDeps['events'];
}

export type TestSignInParts = Omit<TrialRunDeps, 'ask' | 'basePath' | 'issuer'>;

export interface TestSignIn {
  /** Must run before the protocol's routes. */
  readonly gate: Koa.Middleware;
  readonly forConsole: TestSignInParts;
}

export function createTestSignIn(deps: TestSignInDeps): TestSignIn {
  const { baseUrl, issuer, csrf, browser, directory, tokens, grants } = deps;
  const redirectUri = testSignInRedirectUri(baseUrl);
  const trials = createTestSignIns({
    collection: deps.store.ephemeral(administration.testSignIns),
    clock: deps.clock,
    newSecret,
    secretDigest,
    key: deps.cookieKeys[0] ?? '',
  });

  function browserOf(ctx: Koa.Context): string | undefined {
    const id = csrf.existingBrowserId(ctx);
    return id === undefined ? undefined : secretDigest(id);
  }

  async function isAdministrator(accountId: string): Promise<boolean> {
    const account = await directory.find(accountId);
    return account?.role === 'admin' && directory.isUsable(account);
  }

  async function isStarted(ctx: Koa.Context, query: URLSearchParams): Promise<boolean> {
    const [state, id] = [query.get('state'), browserOf(ctx)];
    const trial = state === null || id === undefined ? undefined : await trials.find(state, id);
    if (trial === undefined || query.toString() !== trial.query.toString()) return false;
    const session = await browser.current(ctx);
    const isSame = session?.uid === trial.sessionUid && session.accountId === trial.adminId;
    return isSame && isAdministrator(trial.adminId);
  }

  return {
    gate: admitTestSignIns({ redirectUri, isBegun: isStarted }),
    forConsole: {
      trials,
      redirectUri,
      browserOf,
      isAdministrator,
      markExchange: markTestSignInExchange,
      introspect: async (token) => describeToken(await tokens.live(await tokens.find(token)), issuer),
      async endGrants(ctx, clientId) {
        const session = await browser.current(ctx);
        if (session !== undefined) await grants.revokeTrials(session.uid, clientId);
      },
      events: deps.events,
    },
  };
}
