// Owns putting together trials of applications ("Try it" in the Admin UI): the gate at the authorization endpoint, and
// what the Admin UI runs them with. What they may and may not do stands in src/oidc/trial-gate.ts.
import type Koa from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import type { TrialRunDeps } from '../admin/test-sign-in/run.ts';
import { createTrials } from '../clients/trials.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Csrf } from '../http/csrf.ts';
import { newSecret, secretDigest } from '../ids.ts';
import type { BrowserSession } from '../oidc/browser-session.ts';
import type { AccountDirectory } from '../oidc/find-account.ts';
import { describeToken, type TokenState } from '../oidc/token-state.ts';
import { admitTrials, markTrialExchange, trialRedirectUri } from '../oidc/trial-gate.ts';
import type { Grants } from '../sessions/grants.ts';
import * as administration from '../store/administration.ts';
import type { Store } from '../store/port.ts';

interface Parts {
  readonly config: Pick<Config, 'baseUrl' | 'issuer' | 'cookieKeys'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly csrf: Csrf;
  readonly browser: BrowserSession;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly directory: AccountDirectory<NonNullable<Awaited<ReturnType<Accounts['find']>>>>;
  readonly tokens: TokenState;
  readonly grants: Grants;
  readonly audit: TrialRunDeps['audit'];
}

export type TrialParts = Omit<TrialRunDeps, 'ask' | 'basePath' | 'issuer'>;

export interface TrialApp {
  /** Goes before the protocol's routes. */
  readonly gate: Koa.Middleware;
  readonly forConsole: TrialParts;
}

export function createTrialApp(parts: Parts): TrialApp {
  const { config, csrf, browser, accounts, directory, tokens, grants } = parts;
  const redirectUri = trialRedirectUri(config.baseUrl);
  const trials = createTrials({
    collection: parts.store.ephemeral(administration.trials),
    clock: parts.clock,
    newSecret,
    secretDigest,
    key: config.cookieKeys[0] ?? '',
  });

  function browserOf(ctx: Koa.Context): string | undefined {
    const id = csrf.existingBrowserId(ctx);
    return id === undefined ? undefined : secretDigest(id);
  }

  async function isAdministrator(accountId: string): Promise<boolean> {
    const account = await accounts.find(accountId);
    return account?.role === 'admin' && directory.isUsable(account);
  }

  async function isBegun(ctx: Koa.Context, query: URLSearchParams): Promise<boolean> {
    const [state, id] = [query.get('state'), browserOf(ctx)];
    const trial = state === null || id === undefined ? undefined : await trials.find(state, id);
    if (trial === undefined || query.toString() !== trial.query.toString()) return false;
    const session = await browser.current(ctx);
    const isSame = session?.uid === trial.sessionUid && session.accountId === trial.adminId;
    return isSame && isAdministrator(trial.adminId);
  }

  return {
    gate: admitTrials({ redirectUri, isBegun }),
    forConsole: {
      trials,
      redirectUri,
      browserOf,
      isAdministrator,
      markExchange: markTrialExchange,
      introspect: async (token) => describeToken(await tokens.live(await tokens.find(token)), config.issuer),
      async endGrants(ctx, clientId) {
        const session = await browser.current(ctx);
        if (session !== undefined) await grants.revokeTrials(session.uid, clientId);
      },
      audit: parts.audit,
    },
  };
}
