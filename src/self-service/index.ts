// Self-service: /account and /account/api, where signed-in users read and change their own account. It owns the
// pages, the API and the users' actions. Not here: the rules for passwords and accounts are in src/accounts, for
// factors in src/second-factors and src/passkeys, for freshness in src/oidc/sign-in/signed-in-user.ts. Start with routes.ts
// (pages) and api.ts; both call account-acts.ts and credential-changes.ts.
import type Koa from 'koa';
import { actsOf } from './acts.ts';
import { accountApi } from './api.ts';
import type { SelfServiceDoors } from './doors.ts';
import { createPageKit } from './page-kit.ts';
import { accountPasskeys } from './passkeys-page.ts';
import { accountRoutes } from './routes.ts';

/** @returns middleware, in the order of use */
export function createSelfService(doors: SelfServiceDoors): Koa.Middleware[] {
  const acts = actsOf(doors);
  const kit = createPageKit(doors);
  return [accountApi(doors, acts), accountRoutes(doors, kit, acts), accountPasskeys(kit, acts)];
}
