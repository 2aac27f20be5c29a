// Authorization requests of clients whose id is the address of a metadata document (decision 0026). The library's feature would
// fetch it for anyone; here a person has to be signed in first, at our own door. From then on the stored snapshot is the client.
import type Koa from 'koa';
import { isInForeignFrame } from '../../http/index.ts';
import type { BrowserSession } from '../sign-in/browser-session.ts';
import { consoleSignInUrl } from '../sign-in/console-sign-in.ts';

interface Deps {
  readonly documents: {
    isDue(clientId: string): Promise<boolean>;
    admit(clientId: string, from: string): Promise<void>;
  };
  readonly browser: Pick<BrowserSession, 'current'>;
  readonly baseUrl: string;
  readonly basePath: string;
}

const PREFIX = 'authorize.';

/** The library keeps the `state` of a sign-in; ours limits its size (request-parameters.ts). */
const MAX_QUERY = 3000;

/** @returns the authorization request, below BASE_URL's path, to which a sign-in of ours goes on; it can lead nowhere else */
export function authorizationIn(state: unknown): string | undefined {
  if (typeof state !== 'string' || !state.startsWith(PREFIX)) return undefined;
  const query = Buffer.from(state.slice(PREFIX.length), 'base64url').toString();
  return `/oauth2/authorize?${new URLSearchParams(query)}`;
}

export function admitDocuments({ documents, browser, ...site }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/oauth2/authorize' || ctx.method !== 'GET') return next();
    const { client_id: clientId, prompt } = ctx.query;
    if (typeof clientId !== 'string' || !clientId.startsWith('https://')) return next();
    // Hidden frames make this server fetch nothing: what is stored is the client.
    if (isInForeignFrame(ctx) || !(await documents.isDue(clientId))) return next();
    const session = await browser.current(ctx);
    if (session !== undefined) {
      await documents.admit(clientId, ctx.ip);
      return next();
    }
    // No page may be shown, and nothing is known of where an answer would go (OIDC Core §3.1.2.1).
    const isSilent = typeof prompt === 'string' && prompt.split(' ').includes('none');
    if (isSilent || ctx.querystring.length > MAX_QUERY) return next();
    const page = `${PREFIX}${Buffer.from(ctx.querystring).toString('base64url')}`;
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 303;
    ctx.redirect(consoleSignInUrl({ ...site, page }));
    return undefined;
  };
}
