// Owns the browser's SSO session outside the library's own requests: reading it, signing in after onboarding, clearing it.

import type Koa from 'koa';
import type { Session } from 'oidc-provider';
import { type MethodTimes, mergeMethodTimes, type ProofMethod, stampMethods } from '../accounts/freshness.ts';
import { type Clock, epochSeconds } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { IdentityProvider } from './identity-provider.ts';

/** `__Host-` and `__Secure-` (RFC 6265bis §4.1.3) need https, and `__Host-` a cookie for the whole host. */
export const cookieNamesFor = (isSecure: boolean) => ({
  session: `${isSecure ? '__Host-' : ''}latchkey_session`,
  interaction: `${isSecure ? '__Secure-' : ''}latchkey_interaction`,
  resume: `${isSecure ? '__Secure-' : ''}latchkey_resume`,
});

interface BrowserLogin {
  accountId: string;
  amr: string[];
  acr: string;
  loginTs?: number;
  /** What was authenticated just now. */
  methods: readonly ProofMethod[];
  /** What was authenticated before, where the session is a new one. */
  methodTimes?: MethodTimes;
}

export interface BrowserSession {
  /** @returns the session of this browser if somebody is signed in with it */
  current(ctx: Koa.Context): Promise<(Session & { accountId: string }) | undefined>;
  /**
   * Signs this browser in; the identifier changes, so that a planted one is worth nothing.
   * @param login.loginTs epoch seconds of the proof; default: now
   * @returns the session's public `uid`
   */
  signIn(ctx: Koa.Context, login: BrowserLogin): Promise<string>;
  /** What the store knows the session of this browser's cookie by, or knew it by when it is over. */
  cookieDigest(ctx: Koa.Context): { readonly cookieDigest: string } | undefined;
  /** Takes the cookie away; the session itself is ended by src/sessions. */
  clearCookie(ctx: Koa.Context): void;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly cookieNames: { readonly session: string };
  readonly settings: () => { readonly session_idle_seconds: number };
  readonly clock: Clock;
}

// As configuration.ts gives them to the library.
const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true } as const;

const hasAccount = (session: Session): session is Session & { accountId: string } =>
  session.accountId !== undefined;

export function createBrowserSession({ provider, cookieNames, settings, clock }: Deps): BrowserSession {
  return {
    async current(ctx) {
      const session = await provider().Session.get(ctx);
      return hasAccount(session) ? session : undefined;
    },

    async signIn(ctx, { methods, methodTimes = {}, ...login }) {
      const session = Object.assign(await provider().Session.get(ctx), { request: ctx });
      const isStored = 'storedVersion' in session;
      const times = mergeMethodTimes(methodTimes, stampMethods(methods, clock()));
      session.loginAccount({ loginTs: epochSeconds(clock), ...login, ...{ methodTimes: times } });
      if (isStored) session.resetIdentifier();
      await session.save(settings().session_idle_seconds);
      ctx.cookies.set(cookieNames.session, session.jti, COOKIE);
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
