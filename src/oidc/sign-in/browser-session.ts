// The browser's SSO session outside the library's own requests: read it, sign in after onboarding, clear its cookie.

import type Koa from 'koa';
import type { Session } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import { secretDigest } from '../../ids.ts';
import type { WayToSignIn } from '../../model/ways-to-sign-in.ts';
import { type MethodTimes, mergeMethodTimes, stampMethods } from '../../sessions/index.ts';
import type { IdentityProvider } from '../identity-provider.ts';

/** `__Host-` and `__Secure-` (RFC 6265bis §4.1.3) need https, and `__Host-` a cookie for the whole host. */
export const cookieNamesFor = (isSecure: boolean) => ({
  session: `${isSecure ? '__Host-' : ''}latchkey_session`,
  past: `${isSecure ? '__Host-' : ''}latchkey_past`,
  interaction: `${isSecure ? '__Secure-' : ''}latchkey_interaction`,
  resume: `${isSecure ? '__Secure-' : ''}latchkey_resume`,
});

interface BrowserLogin {
  accountId: string;
  amr: string[];
  acr: string;
  loginTs?: number;
  /** Epoch seconds of the change of the account with which this session goes on (models/confirmed.ts). */
  confirmedAt?: number;
  /** Authenticated just now. */
  methods: readonly WayToSignIn[];
  /** Authenticated earlier, when the session is new. */
  methodTimes?: MethodTimes;
  /** The public id of the session that begins; default: a random one. */
  sessionUid?: string;
}

export interface BrowserSession {
  /** @returns the session of this browser if a user is signed in */
  current(ctx: Koa.Context): Promise<(Session & { accountId: string }) | undefined>;
  /**
   * Signs this browser in and changes the session identifier, against session fixation.
   * @param login.loginTs epoch seconds of the authentication; default: now
   * @returns the session's public `uid`
   */
  signIn(ctx: Koa.Context, login: BrowserLogin): Promise<string>;
  /** The key under which the store has, or had, the session of this browser's cookie. */
  cookieDigest(ctx: Koa.Context): { readonly cookieDigest: string } | undefined;
  /** Clears the cookie; src/sessions ends the session itself. */
  clearCookie(ctx: Koa.Context): void;
  /**
   * Notes that this browser has this session, for as long as it can: the session's own cookie ends with it, and grants live on. What
   * is noted signs nobody in.
   */
  remember(ctx: Pick<Koa.Context, 'cookies'>, uid: string): void;
  /** Whether it is one of the last sessions of this browser. */
  had(ctx: Koa.Context, uid: string): boolean;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly cookieNames: { readonly session: string; readonly past: string };
  readonly settings: () => { readonly session_idle_seconds: number };
  readonly clock: Clock;
}

// The same options as the library gets in configuration.ts.
const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true } as const;

const MAX_PAST = 5;
/** No browser keeps one longer (RFC 6265bis §5.5); a grant lives for a year. */
const LONGEST_COOKIE_MS = 400 * 86_400_000;

const hasAccount = (session: Session): session is Session & { accountId: string } =>
  session.accountId !== undefined;

export function createBrowserSession({ provider, cookieNames, settings, clock }: Deps): BrowserSession {
  /** Digests of public ids, the newest first. */
  const pastOf = (ctx: Pick<Koa.Context, 'cookies'>): string[] =>
    (ctx.cookies.get(cookieNames.past, { signed: true }) ?? '').split('.').filter(Boolean);

  function remember(ctx: Pick<Koa.Context, 'cookies'>, uid: string): void {
    const [past, digest] = [pastOf(ctx), secretDigest(uid)];
    if (past.includes(digest)) return;
    const value = [digest, ...past].slice(0, MAX_PAST).join('.');
    ctx.cookies.set(cookieNames.past, value, { ...COOKIE, maxAge: LONGEST_COOKIE_MS });
  }

  return {
    remember,
    had: (ctx, uid) => pastOf(ctx).includes(secretDigest(uid)),

    async current(ctx) {
      const session = await provider().Session.get(ctx);
      if (!hasAccount(session)) return undefined;
      // For the audit log: events of this request happen in this session.
      ctx.state.sessionUid = session.uid;
      return session;
    },

    async signIn(ctx, { methods, methodTimes = {}, ...login }) {
      const session = Object.assign(await provider().Session.get(ctx), { request: ctx });
      const isStored = 'storedVersion' in session;
      const times = mergeMethodTimes(methodTimes, stampMethods(methods, clock()));
      session.loginAccount({ loginTs: epochSeconds(clock), ...login, ...{ methodTimes: times } });
      if (isStored) session.resetIdentifier();
      await session.save(settings().session_idle_seconds);
      ctx.cookies.set(cookieNames.session, session.jti, COOKIE);
      remember(ctx, session.uid);
      return session.uid;
    },

    cookieDigest(ctx) {
      const value = ctx.cookies.get(cookieNames.session, { signed: true });
      return value === undefined || value === '' ? undefined : { cookieDigest: secretDigest(value) };
    },

    clearCookie(ctx) {
      ctx.cookies.set(cookieNames.session, null, COOKIE);
    },
  };
}
