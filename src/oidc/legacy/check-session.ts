// The page that applications load in a frame to watch the session (OIDC Session Management 1.0 §3.3), for keycloak-js at its own
// address, too. The one exception from the rule that nobody frames our pages: origins of applications with the profile alone.
import { createHash } from 'node:crypto';
import type Koa from 'koa';
import { type Client, hasOrigin } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import { type StateAddress, stateCookieName } from './browser-state.ts';

interface Deps extends StateAddress {
  readonly isOn: () => boolean;
  readonly clients: { findLegacy(): Promise<Client[]> };
}

export const CHECK_SESSION = '/oauth2/check_session';
const REALM_PAGE =
  /^\/realms\/[^/]+\/protocol\/openid-connect\/(login-status-iframe\.html|3p-cookies\/step1\.html)$/;

/** Answers the allowed origin alone, whoever else sends it a message. */
const CHECK = `
const { cookie, origin: allowed } = document.documentElement.dataset;
const digest = async (text) => {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
};
const read = () =>
  (document.cookie.split('; ').find((pair) => pair.startsWith(cookie + '=')) ?? '').slice(cookie.length + 1);
const isUnchanged = async (id, given) => {
  const [state, ...marks] = read().split('~');
  if (given === '') return state === '';
  if (state === '') return false;
  const salt = given.split('.')[1];
  if (salt === undefined) return marks.includes((await digest(id + ' ' + given + ' ' + state)).slice(0, 16));
  return given === (await digest([id, allowed, state, salt].join(' '))) + '.' + salt;
};
addEventListener('message', async ({ data, origin, source }) => {
  if (origin !== allowed || source === null || typeof data !== 'string') return;
  const [id, given, ...more] = data.split(' ');
  const isReadable = data.length < 2000 && id !== '' && given !== undefined && more.length === 0;
  const answer = !isReadable || !crypto.subtle ? 'error' : (await isUnchanged(id, given)) ? 'unchanged' : 'changed';
  source.postMessage(answer, origin);
});
`;

/** keycloak-js asks before it uses the page above (src/oidc/foreign-layout/realms.ts says no otherwise). */
const SUPPORTED = `parent.postMessage('supported', document.documentElement.dataset.origin);`;

const hashOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/** What a Content-Security-Policy can name: no IPv6 address, and nothing that would end a directive. */
const ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;

/** The framing page's origin as the browser says it; a lie would only keep the liar's own page from framing. */
function framingOrigin(ctx: Koa.Context): string | undefined {
  const { origin = '' } = URL.parse(ctx.get('referer')) ?? {};
  return ORIGIN.test(origin) ? origin : undefined;
}

export function checkSessionPages({ isOn, clients, ...address }: Deps): Koa.Middleware {
  async function isRegistered(origin: string, isForKeycloak: boolean): Promise<boolean> {
    const known = await clients.findLegacy();
    return known.some(
      ({ value }) => hasOrigin(value, origin) && (!isForKeycloak || value.keycloakTokens === true),
    );
  }

  function show(ctx: Koa.Context, origin: string, script: string): void {
    ctx.remove('X-Frame-Options');
    ctx.remove('Cross-Origin-Resource-Policy');
    ctx.set(
      'Content-Security-Policy',
      `default-src 'none'; script-src ${hashOf(script)}; frame-ancestors ${origin}; base-uri 'none'; form-action 'none'; object-src 'none'`,
    );
    ctx.vary('Referer');
    ctx.type = 'html';
    const data = `data-origin="${origin}" data-cookie="${stateCookieName(address)}"`;
    ctx.body = `<!doctype html><html lang="en" ${data}><meta charset="utf-8"><title>Session</title><script>${script}</script></html>\n`;
  }

  return async (ctx, next) => {
    const [, realmPage] = REALM_PAGE.exec(ctx.path) ?? [];
    if ((ctx.path !== CHECK_SESSION && realmPage === undefined) || !isOn()) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      if (realmPage !== undefined) return next();
      ctx.set('Allow', 'GET');
      throw new AppError('request.method_not_allowed');
    }
    const origin = framingOrigin(ctx);
    const isAllowed = origin !== undefined && (await isRegistered(origin, realmPage !== undefined));
    if (realmPage?.startsWith('3p-cookies') === true) {
      // Frames of other sites do not get the session's cookie, so a silent check there would find nobody signed in.
      const isSameSite = ['same-site', 'same-origin'].includes(ctx.get('sec-fetch-site'));
      return isAllowed && isSameSite ? show(ctx, origin, SUPPORTED) : next();
    }
    if (isAllowed) return show(ctx, origin, CHECK);
    ctx.status = 403;
    ctx.type = 'text';
    ctx.body =
      'This page is for frames of registered applications, whose pages say by Referer where they are.\n';
    return undefined;
  };
}
