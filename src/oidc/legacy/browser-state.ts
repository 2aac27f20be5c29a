// The state of a browser for session management (OIDC Session Management 1.0 §3.2): one cookie that scripts of our frame can read
// and that means nothing here. It is derived from the session by a key, so it says no more than whether the session is still the
// same; no request is ever judged by it.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type Koa from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { hasLegacyProfile } from '../../clients/index.ts';
import { hasKeycloakTokens } from '../foreign-layout/keycloak-tokens.ts';
import { clientRecord } from '../models/client.ts';

export interface StateAddress {
  readonly baseUrl: string;
  readonly basePath: string;
}

const isSecure = ({ baseUrl }: StateAddress): boolean => baseUrl.startsWith('https:');

export const stateCookieName = (address: StateAddress): string =>
  `${isSecure(address) ? '__Secure-' : ''}latchkey_browser_state`;

/** A frame on another site gets it only with `None`, which needs https. */
const optionsFor = (address: StateAddress) =>
  ({
    httpOnly: false,
    signed: false,
    overwrite: true,
    sameSite: isSecure(address) ? 'none' : 'lax',
    path: address.basePath === '' ? '/' : address.basePath,
  }) as const;

/** After a sign-out, and where it turns out that nobody is signed in. */
export function forgetBrowserState(ctx: Pick<Koa.Context, 'cookies'>, address: StateAddress): void {
  const name = stateCookieName(address);
  if (ctx.cookies.get(name, { signed: false }) === undefined) return;
  ctx.cookies.set(name, null, optionsFor(address));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

const MARK = /^[\w-]{16}$/;
const MAX_MARKS = 10;

interface Deps extends StateAddress {
  /** Newest first. */
  readonly cookieKeys: readonly string[];
}

/** @returns what adds `session_state` to an answer of the authorization endpoint, and keeps the cookie */
export function createNoteBrowserState({ cookieKeys: [cookieKey = ''], ...address }: Deps) {
  // A derived key for this purpose alone: what scripts can read must not help against what is signed.
  const key = createHmac('sha256', cookieKey).update('browser-state').digest();
  const name = stateCookieName(address);

  return (ctx: KoaContextWithOIDC, response: object): void => {
    const { client, session, params } = ctx.oidc;
    const target = URL.parse(String(params?.redirect_uri ?? ''));
    if (client === undefined || session?.accountId === undefined) return;
    if (!hasLegacyProfile(clientRecord(client)) || !target?.protocol.startsWith('http')) return;
    const { clientId } = client;
    const state = createHmac('sha256', key).update(session.uid).digest('base64url');
    // keycloak-js compares the session that its tokens name, instead of what an answer says.
    const sid = hasKeycloakTokens(client) ? session.sidFor(clientId) : undefined;
    const marks = sid === undefined ? [] : [digest(`${clientId} ${sid} ${state}`).slice(0, 16)];
    const [known, ...others] = ctx.cookies.get(name, { signed: false })?.split('~') ?? [];
    const kept = known === state ? others.filter((mark) => MARK.test(mark)) : [];
    const all = [...new Set([...marks, ...kept])].slice(0, MAX_MARKS);
    ctx.cookies.set(name, [state, ...all].join('~'), optionsFor(address));
    const salt = randomBytes(12).toString('base64url');
    const sessionState = `${digest(`${clientId} ${target.origin} ${state} ${salt}`)}.${salt}`;
    Object.assign(response, { session_state: sessionState });
  };
}
