// All that answers under /admin: the routes of the API, and the Admin UI. index.ts loads this file, and by it half of the
// program, at the first request for it.
import type Koa from 'koa';
import type { ProtocolDoors } from '../oidc/index.ts';
import { createAuditTrail } from './api/audit-trail.ts';
import { createPerform } from './api/perform.ts';
import { createApiParts } from './api-parts.ts';
import { createAdminUi } from './console/create.ts';
import { createCalls } from './pages/calls.ts';
import { createImportDesk } from './resources/users/import-desk.ts';
import type { UserImports } from './resources/users/import-records.ts';
import { createImportRun } from './resources/users/import-run.ts';
import { adminRouteList, adminRoutes } from './routes.ts';
import type { TestSignIns } from './test-sign-in/create.ts';

export interface Area {
  /** For /admin; it passes on paths that it has not. */
  readonly middleware: Koa.Middleware;
  /** Goes on with the imports of users that run. @returns how many rows are done */
  readonly goOnImporting: (signal: AbortSignal) => Promise<number>;
}

export function createArea(doors: ProtocolDoors, testSignIns: TestSignIns, imports: UserImports): Area {
  const api = { ...doors, ...createApiParts(doors) };
  const routes = adminRouteList(api);
  const answerApi = adminRoutes(api, routes);
  const perform = createPerform(createAuditTrail(api));
  const { call } = createCalls(routes, perform);
  const importRun = createImportRun(api, imports, call);
  const answerPages = createAdminUi(doors, testSignIns, {
    routes,
    perform,
    userImports: createImportDesk(api, imports),
  });
  return {
    middleware: (ctx, next) => answerApi(ctx, async () => answerPages(ctx, next)),
    async goOnImporting(signal) {
      let rows = 0;
      for (const one of await imports.running()) rows += await importRun(one, signal);
      return rows;
    },
  };
}
