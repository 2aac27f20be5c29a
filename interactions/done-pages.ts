// Owns what comes after a form that did something: a page of its own, so that a reload sends no form again (POST,
// redirect, GET). What the page says was typed here or belongs to the sign-in, so it waits in the store, for this browser.
import type Koa from 'koa';
import type { Csrf } from '../src/http/csrf.ts';
import type { OneTime } from '../src/http/one-time.ts';
import { newSecret } from '../src/ids.ts';

export interface DonePages {
  /** 303 to `path`, where `take` has `said`. */
  goTo(ctx: Koa.Context, path: string, said: Readonly<Record<string, string | undefined>>): Promise<void>;
  /** Whether the address is one of `goTo`. */
  isAsked(ctx: Koa.Context): boolean;
  /** @returns undefined after a reload, and in every other browser */
  take(ctx: Koa.Context): Promise<Readonly<Record<string, string>> | undefined>;
}

interface Deps {
  readonly oneTime: OneTime;
  readonly csrf: Pick<Csrf, 'browserId' | 'existingBrowserId'>;
  readonly basePath: string;
}

const SECONDS = 300;

export function createDonePages({ oneTime, csrf, basePath }: Deps): DonePages {
  const keyOf = (browserId: string, path: string, handle: string): string[] => [
    'done',
    browserId,
    path,
    handle,
  ];

  return {
    async goTo(ctx, path, said) {
      const handle = newSecret(16);
      await oneTime.keep(keyOf(csrf.browserId(ctx), path, handle), said, SECONDS);
      ctx.status = 303;
      ctx.set('Cache-Control', 'no-store');
      ctx.redirect(`${basePath}${path}?done=${handle}`);
    },
    isAsked: ({ query }) => query.done !== undefined,
    async take(ctx) {
      const browserId = csrf.existingBrowserId(ctx);
      if (browserId === undefined || ctx.method !== 'GET') return undefined;
      const said = await oneTime.take(keyOf(browserId, ctx.path, String(ctx.query.done)));
      if (said === undefined) return undefined;
      return Object.fromEntries(
        Object.entries(said).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      );
    },
  };
}
