// Owns who is at the administrator's pages: a browser whose person came through our sign-in, whose session still lives,
// and who clicked something within the idle time. The cookie only adds to the SSO session, it never stands for it: where
// that ended, by whomever, nobody is here.
import type Koa from 'koa';
import { type AdminAccess, accessOfRole } from '../../accounts/role-access.ts';
import type { Clock } from '../../clock.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** Whoever is signed in with this browser, read afresh. */
export interface BrowserUser {
  readonly sessionUid: string;
  /** When they proved who they are, in epoch seconds. */
  readonly signedInAt: number;
  /** Whether they used every factor that they have. */
  readonly hasUsedFactors: boolean;
  readonly account: {
    readonly id: string;
    readonly username: string;
    readonly role: string;
    readonly email?: string | undefined;
    readonly totpVerified: boolean;
  };
}

export interface AdminVisitor extends BrowserUser {
  /** What their role opens now; undefined: nothing, whatever they were when they came in. */
  readonly access: AdminAccess | undefined;
  /** Seconds since they proved who they are. */
  readonly signedInSeconds: number;
}

/** What the cookie says: for which session our own flow was gone through. Its end is the idle time. */
export interface Admission {
  readonly sessionUid: string;
  readonly accountId: string;
}

export const isAdmission = (value: unknown): value is Admission =>
  typeof value === 'object' &&
  value !== null &&
  ['sessionUid', 'accountId'].every((name) => typeof Reflect.get(value, name) === 'string');

interface Deps {
  readonly admission: SealedCookie<Admission>;
  readonly signedIn: (ctx: Koa.Context) => Promise<BrowserUser | undefined>;
  readonly idleSeconds: () => number;
  readonly clock: Clock;
}

export function createVisitors({ admission, signedIn, idleSeconds, clock }: Deps) {
  return {
    signedIn,

    /** @returns who is admitted; each visit begins the idle time anew */
    async current(ctx: Koa.Context): Promise<AdminVisitor | undefined> {
      const given = admission.read(ctx);
      if (given === undefined) return undefined;
      const user = await signedIn(ctx);
      if (user === undefined || user.sessionUid !== given.sessionUid || user.account.id !== given.accountId)
        return undefined;
      if (!user.hasUsedFactors) return undefined;
      admission.write(ctx, given, idleSeconds());
      return {
        ...user,
        access: accessOfRole(user.account.role),
        signedInSeconds: Math.max(0, Math.floor(clock() / 1000) - user.signedInAt),
      };
    },

    /** After our own flow. @returns whether the browser's session is that person's */
    async admit(ctx: Koa.Context, subject: string): Promise<boolean> {
      const user = await signedIn(ctx);
      if (user === undefined || user.account.id !== subject) return false;
      admission.write(ctx, { sessionUid: user.sessionUid, accountId: subject }, idleSeconds());
      return true;
    },
  };
}

export type Visitors = ReturnType<typeof createVisitors>;
