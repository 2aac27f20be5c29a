// Owns who is at the administrator's pages: a browser whose person came through our sign-in, whose session still lives,
// and who clicked something within the idle time. The cookie only adds to the SSO session, it never stands for it: where
// that ended, by whomever, nobody is here.
import type Koa from 'koa';
import { type AdminAccess, accessOfRole } from '../../accounts/role-access.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** Whoever is signed in with this browser, read afresh. */
export interface BrowserUser {
  readonly sessionUid: string;
  /** Whether they may do a sensitive act (decisions §8). */
  readonly isFresh: boolean;
  /** Whether they used two factors, where they have them or the settings want them (decisions §2). */
  readonly hasUsedFactors: boolean;
  /** The most that their account can be asked for; undefined: its password. */
  readonly strongestAcr: string | undefined;
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
}

export function createVisitors({ admission, signedIn, idleSeconds }: Deps) {
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
