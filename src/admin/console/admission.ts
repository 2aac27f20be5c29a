// Determines who is signed in to the Admin UI: the browser completed our sign-in, its session is still active, and it sent
// a request within the idle time. The cookie restricts the SSO session and never replaces it: when that session ends,
// the administrator is signed out.
import type Koa from 'koa';
import { accessOfRole } from '../../accounts/index.ts';
import { memberOf } from '../../json.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** The cookie's content: the session that completed our sign-in flow. It expires after the idle time. */
export interface Admission {
  readonly sessionUid: string;
  readonly accountId: string;
}

export const isAdmission = (value: unknown): value is Admission =>
  ['sessionUid', 'accountId'].every((name) => typeof memberOf(value, name) === 'string');

export function createAdmissions(doors: ProtocolDoors, admission: SealedCookie<Admission>) {
  const signedIn = doors.signedIn.ofBrowser;
  const idleSeconds = () => doors.settings().admin_idle_seconds;
  return {
    signedIn,

    /** @returns the admitted user; what they do themselves (default) restarts the idle time */
    async current(ctx: Koa.Context, { isActivity = true } = {}): Promise<SignedInAdmin | undefined> {
      const given = admission.read(ctx);
      if (given === undefined) return undefined;
      const user = await signedIn(ctx);
      if (user === undefined || user.sessionUid !== given.sessionUid || user.account.id !== given.accountId)
        return undefined;
      if (!user.hasUsedFactors) return undefined;
      if (isActivity) admission.write(ctx, given, idleSeconds());
      return {
        ...user,
        access: accessOfRole(user.account.role),
      };
    },

    /** Called after the sign-in flow. @returns whether the browser's session belongs to that user */
    async admit(ctx: Koa.Context, subject: string): Promise<boolean> {
      const user = await signedIn(ctx);
      if (user === undefined || user.account.id !== subject) return false;
      admission.write(ctx, { sessionUid: user.sessionUid, accountId: subject }, idleSeconds());
      return true;
    },
  };
}

export type Admissions = ReturnType<typeof createAdmissions>;
