import type Koa from 'koa';

/** Whatever the request was: the next one reads. */
export function goTo(ctx: Koa.Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
}
