// POST to the authorization endpoint (OIDC Core §3.1.2.1) is the same request as GET. The library supports POST only with
// cookies that are sent across sites, which ours are not.
import type Koa from 'koa';
import { MAX_TARGET } from '../../http/index.ts';
import type { ReadForm } from './form.ts';
import { checkAuthorizationForm } from './request-parameters.ts';

/** @param path of the endpoint as browsers see it */
export function authorizeByPost({ readForm, path }: { readForm: ReadForm; path: string }): Koa.Middleware {
  return async (ctx, next) => {
    const form = await readForm(ctx);
    checkAuthorizationForm(form);
    const query = new URLSearchParams(
      form.keys().map((name): [string, string] => [name, form.get(name) ?? '']),
    );
    // A cross-site POST carries no session cookie (SameSite=Lax); the GET after the redirect does.
    if (ctx.get('sec-fetch-site') === 'cross-site' && `${path}?${query}`.length <= MAX_TARGET) {
      ctx.status = 303;
      ctx.redirect(`${path}?${query}`);
      return undefined;
    }
    ctx.method = 'GET';
    ctx.querystring = query.toString();
    return next();
  };
}
