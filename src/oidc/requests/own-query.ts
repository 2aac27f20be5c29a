// The query of a registered redirect URI comes back byte for byte (decision 0001). The library parses and serialises it anew
// (lib/helpers/redirect_uri.js): `%20` becomes `+`, `a` becomes `a=`, and applications that compare or sign it break.
import type Koa from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';

const entriesOf = (query: string): (readonly [string, string])[] => [...new URLSearchParams(query)];

/**
 * @param location where the library sends the browser
 * @param registered as the request named it
 * @returns the same with the registered query as it is; unchanged where one of its names is among the answer's, which then replaced it
 */
export function withOwnQuery(location: string, registered: string): string {
  const at = registered.indexOf('?');
  const to = URL.parse(location);
  if (at === -1 || to === null) return location;
  const query = registered.slice(at + 1);
  const own = entriesOf(query);
  const all = [...to.searchParams];
  const isKept = own.every(([name, value], index) => all[index]?.[0] === name && all[index]?.[1] === value);
  if (!isKept || to.origin + to.pathname !== plainOf(registered)) return location;
  const added = new URLSearchParams(all.slice(own.length)).toString();
  const whole = [query, added].filter(Boolean).join('&');
  return `${location.slice(0, location.indexOf('?'))}?${whole}${to.hash}`;
}

function plainOf(uri: string): string {
  const { origin, pathname } = new URL(uri);
  return origin + pathname;
}

export const keepOwnQuery: Koa.Middleware = async (
  ctx: Koa.Context & Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
  next,
) => {
  await next();
  const registered = ctx.oidc?.params?.redirect_uri;
  const location = ctx.response.get('Location');
  if (typeof registered === 'string' && location) ctx.set('Location', withOwnQuery(location, registered));
};
