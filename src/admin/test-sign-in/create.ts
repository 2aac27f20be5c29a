// Assembles test sign-ins ("Try it" in the Admin UI): the gate in front of the authorization endpoint, and what the Admin UI
// runs them with.
import type Koa from 'koa';
import type { Account } from '../../accounts/index.ts';
import { passingId } from '../../client-ids.ts';
import type { Csrf } from '../../http/index.ts';
import { secretDigest } from '../../ids.ts';
import { type AccountDirectory, type BrowserSession, TRY_CALLBACK, vouchFor } from '../../oidc/index.ts';
import type { Grants } from '../../sessions/index.ts';
import type { TestSignInRunDeps } from './run.ts';
import type { TestSignIns } from './started.ts';

export interface TestSignInDeps {
  readonly csrf: Pick<Csrf, 'existingBrowserId'>;
  readonly browser: BrowserSession;
  readonly directory: AccountDirectory<Account>;
  readonly started: TestSignIns;
  readonly grants: Pick<Grants, 'revokeOfClientInSession'>;
  readonly events: TestSignInRunDeps['events'];
  readonly baseUrl: string;
}

export type TestSignInParts = Omit<TestSignInRunDeps, 'redeem' | 'introspect' | 'issuer'>;

export interface TestSignIn {
  /** Must run before the protocol's routes. */
  readonly gate: Koa.Middleware;
  readonly forConsole: TestSignInParts;
}

export function createTestSignIn(deps: TestSignInDeps): TestSignIn {
  const { csrf, browser, directory, started, grants, events } = deps;
  const redirectUri = `${deps.baseUrl}${TRY_CALLBACK}`;

  function browserOf(ctx: Koa.Context): string | undefined {
    const id = csrf.existingBrowserId(ctx);
    return id === undefined ? undefined : secretDigest(id);
  }

  async function isAdministrator(accountId: string): Promise<boolean> {
    const account = await directory.find(accountId);
    return account?.role === 'admin' && directory.isUsable(account);
  }

  /** @returns the application whose sign-in an administrator of this browser and session started with exactly this request */
  async function clientStarted(ctx: Koa.Context, query: URLSearchParams): Promise<string | undefined> {
    const [state, id] = [query.get('state'), browserOf(ctx)];
    const found = state === null || id === undefined ? undefined : await started.find(state, id);
    if (found === undefined || query.toString() !== found.query.toString()) return undefined;
    const session = await browser.current(ctx);
    const isSame = session?.uid === found.sessionUid && session.accountId === found.adminId;
    return isSame && (await isAdministrator(found.adminId)) ? found.clientId : undefined;
  }

  return {
    // Here alone the application's passing id comes into a request.
    async gate(ctx, next) {
      const query = new URLSearchParams(ctx.querystring);
      const isAsked = ctx.path === '/oauth2/authorize' && ctx.method === 'GET';
      if (isAsked && query.get('redirect_uri') === redirectUri) {
        const clientId = await clientStarted(ctx, query);
        if (clientId !== undefined) {
          query.set('client_id', passingId(clientId));
          ctx.querystring = query.toString();
          vouchFor(ctx.req);
        }
      }
      return next();
    },
    forConsole: {
      started,
      redirectUri,
      browserOf,
      isAdministrator,
      async endGrants(ctx, clientId) {
        const session = await browser.current(ctx);
        if (session !== undefined) await grants.revokeOfClientInSession(session.uid, passingId(clientId));
      },
      events,
    },
  };
}
