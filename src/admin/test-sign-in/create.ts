// Assembles test sign-ins ("Try it" in the Admin UI): the gate in front of the authorization endpoint, and what the Admin UI
// runs them with. src/oidc/test-sign-in/test-sign-in-gate.ts defines what they may do.
import type Koa from 'koa';
import type { Account } from '../../accounts/index.ts';
import type { Csrf } from '../../http/index.ts';
import { secretDigest } from '../../ids.ts';
import type { AccountDirectory, BrowserSession, TestSignInAccess } from '../../oidc/index.ts';
import type { Grants } from '../../sessions/index.ts';
import type { TestSignInRunDeps } from './run.ts';

export interface TestSignInDeps {
  readonly csrf: Pick<Csrf, 'existingBrowserId'>;
  readonly browser: BrowserSession;
  readonly directory: AccountDirectory<Account>;
  readonly access: TestSignInAccess;
  readonly grants: Pick<Grants, 'revokeTrials'>;
  readonly events: TestSignInRunDeps['events'];
}

export type TestSignInParts = Omit<TestSignInRunDeps, 'ask' | 'basePath' | 'issuer'>;

export interface TestSignIn {
  /** Must run before the protocol's routes. */
  readonly gate: Koa.Middleware;
  readonly forConsole: TestSignInParts;
}

export function createTestSignIn({
  csrf,
  browser,
  directory,
  access,
  grants,
  events,
}: TestSignInDeps): TestSignIn {
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
    const started = state === null || id === undefined ? undefined : await access.started.find(state, id);
    if (started === undefined || query.toString() !== started.query.toString()) return false;
    const session = await browser.current(ctx);
    const isSame = session?.uid === started.sessionUid && session.accountId === started.adminId;
    return isSame && isAdministrator(started.adminId);
  }

  return {
    gate: access.gate(isStarted),
    forConsole: {
      access,
      browserOf,
      isAdministrator,
      async endGrants(ctx, clientId) {
        const session = await browser.current(ctx);
        if (session !== undefined) await grants.revokeTrials(session.uid, clientId);
      },
      events,
    },
  };
}
