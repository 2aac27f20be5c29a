// Where a request comes from, as the browser says it (Fetch Metadata; Fetch §3.2 for Origin). Programs say nothing of it: Node's
// fetch sends Sec-Fetch-Mode alone.
import type Koa from 'koa';

type Head = Pick<Koa.Context, 'get' | 'origin'>;

/** A sibling host or another port counts as another site: it may serve what others uploaded. */
export function isFromAnotherSite(ctx: Head): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  return site === 'cross-site' || site === 'same-site';
}

/** Whether a person is led here: the page becomes that of a window. What is fetched in advance (Sec-Purpose) may never be shown. */
const isWholePage = (ctx: Head): boolean =>
  ctx.get('Sec-Fetch-Mode') === 'navigate' &&
  ctx.get('Sec-Fetch-Dest') === 'document' &&
  !ctx.get('Sec-Purpose').startsWith('prefetch');

/** A frame, picture, script or fetch of a page of another site. */
export const isPartOfAnotherSite = (ctx: Head): boolean => isFromAnotherSite(ctx) && !isWholePage(ctx);

const FRAMES = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

export const isInForeignFrame = (ctx: Head): boolean =>
  isFromAnotherSite(ctx) && ctx.get('Sec-Fetch-Mode') === 'navigate' && FRAMES.has(ctx.get('Sec-Fetch-Dest'));

/**
 * Whether a page of ours, the person or a program sent what only our own forms send. Our pages have `Referrer-Policy: same-origin`,
 * under which browsers name us in Origin; a `null` without Sec-Fetch-Site is a sandboxed frame, a file or a page that hides itself.
 * Another origin that the browser calls the same is one whose name leads here (DNS rebinding).
 */
export function isOfOwnForm(ctx: Head): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  const origin = ctx.get('Origin');
  if (site !== '' && site !== 'same-origin' && site !== 'none') return false;
  if (origin === 'null') return site !== '';
  return origin === '' || origin === ctx.origin;
}
