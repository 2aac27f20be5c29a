// Somebody opens pages by another name than BASE_URL, where forms are refused: said once in the log. The page says it to them
// (templates/assets/page.js). Never by Host, which proxies may rewrite: by what the browser says that its page is.
import type Koa from 'koa';
import type { Logger } from '../log.ts';
import { isFromAnotherSite } from './request-source.ts';

interface Deps {
  readonly log: Pick<Logger, 'warn'>;
  readonly baseUrl: string;
  readonly basePath: string;
}

export function tellOpenedElsewhere({ log, baseUrl, basePath }: Deps): Koa.Middleware {
  const { origin } = new URL(baseUrl);
  let isTold = false;
  return (ctx, next) => {
    // Browsers name the page that a script is of; ours have `Referrer-Policy: same-origin`.
    if (isTold || !ctx.path.startsWith(`${basePath}/assets/`) || isFromAnotherSite(ctx)) return next();
    const opened = URL.parse(ctx.get('Referer'))?.origin ?? origin;
    if (opened !== origin) {
      isTold = true;
      log.warn(
        { event: 'opened_elsewhere', opened, base_url: baseUrl },
        'pages are opened at another address than BASE_URL, where forms are refused',
      );
    }
    return next();
  };
}
