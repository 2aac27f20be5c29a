// What clients of the foreign path layout (decision 0026) read beside the protocol: `/realms/{name}` with the signing key, and
// the page that keycloak-js loads in a frame before its first step.
import { createHash } from 'node:crypto';
import type Koa from 'koa';
import { createRouter, type RouteContext } from '../../http/index.ts';
import type { ProtocolDoors } from '../doors.ts';

/**
 * keycloak-js asks this page whether cookies work in frames, and waits for the answer. It is always no: a yes would have it load
 * a page that tells by a cookie whether somebody is signed in, which is session management (decision 0026, legacy). It then signs
 * in by redirects and watches no session. The message is a constant, and goes to the framing origin alone.
 */
const SCRIPT =
  'const origin=location.ancestorOrigins?.[0]??(document.referrer&&new URL(document.referrer).origin);' +
  "if(origin&&origin!=='null')parent.postMessage('unsupported',origin);";

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Cookies in frames</title><script>${SCRIPT}</script></html>\n`;

/**
 * Any application's page may frame it, since nothing in its request names one. The sandbox gives it an origin of its own, so that
 * it can reach neither cookies nor pages of ours.
 */
const POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  'sandbox allow-scripts',
  'frame-ancestors https: http:',
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
].join('; ');

function showCookieCheck(ctx: RouteContext): void {
  ctx.remove('X-Frame-Options');
  ctx.set('Content-Security-Policy', POLICY);
  ctx.type = 'html';
  ctx.body = PAGE;
}

/** Which realms answer, aliases.ts has decided before. */
export function realmRoutes({ mount, baseUrl }: ProtocolDoors): Koa.Middleware {
  const router = createRouter({ prefix: '/realms', refusesOtherMethods: true });
  router.get('/:realm', (ctx) => {
    const realm = String(ctx.params.realm);
    ctx.body = {
      realm,
      public_key: mount.publicKey,
      'token-service': `${baseUrl}/realms/${encodeURIComponent(realm)}/protocol/openid-connect`,
      'account-service': `${baseUrl}/account`,
      'tokens-not-before': 0,
    };
  });
  router.get('/:realm/protocol/openid-connect/3p-cookies/step1.html', showCookieCheck);
  return router.middleware;
}
