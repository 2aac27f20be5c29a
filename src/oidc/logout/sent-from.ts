// Who sent the browser to the sign-out, by its own headers (decision 0005).
import type Koa from 'koa';
import { AppError } from '../../errors.ts';

/** Rejects an image, frame or script on any site, our own and sibling hosts included (CVE-2020-10734). */
export function refuseSubresource(ctx: Koa.Context): void {
  const [site, dest, mode] = ['sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-mode'].map((name) =>
    ctx.get(name),
  );
  // Browsers send Sec-Fetch-Site; programs may send the mode alone.
  if (site === '') return;
  const isNavigation = ['', 'document'].includes(dest ?? '') && ['', 'navigate'].includes(mode ?? '');
  if (isNavigation) return;
  throw new AppError('request.csrf', {
    message: 'The sign-out page must be opened as a page. It cannot be loaded as part of another page.',
  });
}

/**
 * Whether another site may have sent the browser here by a link or a form. A sibling host counts as another site, because
 * it may serve uploaded content. Without Sec-Fetch-Site (plain http hosts), Origin and Referer decide, and a navigation
 * without either could come from any site.
 */
export function isFromElsewhere(ctx: Koa.Context): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site === 'cross-site' || site === 'same-site';
  const origin = ctx.get('origin');
  if (origin !== '') return origin !== ctx.origin;
  const referrer = ctx.get('referer');
  if (referrer !== '') return URL.parse(referrer)?.origin !== ctx.origin;
  return ctx.get('upgrade-insecure-requests') !== '';
}
