// The page after a form that changed something has its own address, so a reload does not submit the form again (POST,
// redirect, GET). Its values are stored for this browser, because they were entered here or belong to the sign-in.
import type Koa from 'koa';
import { newSecret } from '../src/ids.ts';
import type { InteractionDoors } from './doors.ts';

type Values = Readonly<Record<string, string | undefined>>;

export interface DonePages {
  /**
   * Redirects (303) to `path`, where `take` returns `values`.
   * @param again what the address says, so that a reload comes to the same form
   */
  goTo(ctx: Koa.Context, path: string, values: Values, again?: Values): Promise<void>;
  /** Whether the request is for the address of `goTo`. */
  isAsked(ctx: Koa.Context): boolean;
  /** @returns undefined after a reload and in any other browser */
  take(ctx: Koa.Context): Promise<Readonly<Record<string, string>> | undefined>;
}

const SECONDS = 300;

export function createDonePages({ oneTime, csrf, basePath }: InteractionDoors): DonePages {
  const keyOf = (browserId: string, path: string, handle: string): string[] => [
    'done',
    browserId,
    path,
    handle,
  ];

  return {
    async goTo(ctx, path, values, again = {}) {
      const handle = newSecret(16);
      await oneTime.keep(keyOf(csrf.browserId(ctx), path, handle), values, SECONDS);
      ctx.status = 303;
      ctx.set('Cache-Control', 'no-store');
      const query = new URLSearchParams({ done: handle });
      for (const [name, value] of Object.entries(again)) if (value !== undefined) query.set(name, value);
      ctx.redirect(`${basePath}${path}?${query}`);
    },
    isAsked: ({ query }) => query.done !== undefined,
    async take(ctx) {
      const browserId = csrf.existingBrowserId(ctx);
      if (browserId === undefined || ctx.method !== 'GET') return undefined;
      const values = await oneTime.take(keyOf(browserId, ctx.path, String(ctx.query.done)));
      if (values === undefined) return undefined;
      return Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      );
    },
  };
}
