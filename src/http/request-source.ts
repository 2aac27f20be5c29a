// Where a request comes from, as the browser says it (Fetch Metadata; Fetch §3.2 for Origin). Programs say nothing of it: Node's
// fetch sends Sec-Fetch-Mode alone.
import type Koa from 'koa';

type Head = Pick<Koa.Context, 'get' | 'origin'>;

/** A sibling host or another port counts as another site: it may serve what others uploaded. */
export function isFromAnotherSite(ctx: Head): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  return site === 'cross-site' || site === 'same-site';
}

/**
 * What no person has asked for yet, or ever will, and what a page anywhere can have sent without limit. Fetched in advance (Speculation
 * Rules): Chromium says `Sec-Fetch-Site: none` of it, as of a typed address, and sends the cookies that a page of the same site may
 * send. It throws a refusal away and asks again once somebody goes there. A WebSocket: without any Sec-Fetch header.
 */
export const isSentByNobody = (ctx: Head): boolean =>
  ['Sec-Purpose', 'Purpose'].some((name) => ctx.get(name).startsWith('prefetch')) ||
  ctx.get('Sec-WebSocket-Key') !== '';

/** Whether a person is led here: the page becomes that of a window. */
const isWholePage = (ctx: Head): boolean =>
  ctx.get('Sec-Fetch-Mode') === 'navigate' && ctx.get('Sec-Fetch-Dest') === 'document';

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
