// The admin REST API (/admin/api) and the Admin UI (/admin), which does everything through the routes of the API. This
// domain owns the contract of routes, lists and pages, the resources, and test sign-ins. It does not own the rules of the
// data it administers: those belong to the domains below. Start with area.ts, which is loaded at the first request for it, then
// routes.ts (all routes) and console/create.ts.
import type Koa from 'koa';
import type { Job } from '../jobs/index.ts';
import type { ProtocolDoors } from '../oidc/index.ts';
import type { Area } from './area.ts';
import { importUsers } from './resources/users/import-job.ts';
import { createUserImports } from './resources/users/import-records.ts';
import { createTestSignIns } from './test-sign-in/create.ts';

export { resealReplies } from './api/reseal-replies.ts';
export { resealUserImports } from './resources/users/import-records.ts';

export interface Admin {
  /** Admits test sign-ins; must run before the protocol's routes. */
  readonly testSignInGate: Koa.Middleware;
  /** Everything under /admin. */
  readonly middleware: Koa.Middleware;
  readonly jobs: readonly Job[];
}

const isOurs = (path: string): boolean => path === '/admin' || path.startsWith('/admin/');

/**
 * Loads the area when it is first needed, for all that wait for it at once. It is half of the program, and a process that only
 * issues tokens never needs it. A failure is the answer to those, and the next one tries again.
 */
function atFirstUse(load: () => Promise<Area>): () => Promise<Area> {
  let loading: Promise<Area> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

export function createAdmin(doors: ProtocolDoors): Admin {
  const testSignIns = createTestSignIns(doors);
  const imports = createUserImports(doors);
  doors.events.on('accountRemoving', ({ accountId }) => imports.removeOfAccount(accountId));
  const area = atFirstUse(async () => {
    const { createArea } = await import('./area.ts');
    return createArea(doors, testSignIns, imports);
  });
  return {
    testSignInGate: testSignIns.gate,
    async middleware(ctx, next) {
      if (!isOurs(ctx.path)) return next();
      const { middleware } = await area();
      return middleware(ctx, next);
    },
    jobs: [importUsers({ imports, goOn: async (signal) => (await area()).goOnImporting(signal) })],
  };
}
