// A user's actions on their own account other than its credentials: ending sessions, revoking trusted devices,
// removing applications, requesting a verification mail. The pages and the API share them.
import type Koa from 'koa';
import { addressKey } from '../accounts/index.ts';
import { CONSOLE_CLIENT_ID } from '../clients/index.ts';
import { AppError } from '../errors.ts';
import { chargeAll, keyFor } from '../rate-limits/index.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';
import type { RecentAdditions } from './recent-additions.ts';

export function createAccountActs(doors: SelfServiceDoors, additions: RecentAdditions) {
  const { sessions, access, events, limits, browsers } = doors;
  const { trustedDevices } = doors.secondFactors;

  return {
    isKnownBrowser: browsers.isKnown,
    /** @throws AppError session.not_found when it is not a session of this user */
    async endSession(who: SelfServiceUser, id: string): Promise<void> {
      const session = await sessions.find(id);
      if (session?.value.accountId !== who.account.id) throw new AppError('session.not_found');
      await sessions.end(id);
    },
    /** @param ctx of the browser that stays known to the account; absent: requested by an application */
    async endOtherSessions(who: SelfServiceUser, ctx?: Koa.Context): Promise<void> {
      // First: a browser that became known in a session that is being ended must not pass a lock because of it.
      await (ctx === undefined
        ? browsers.forgetAll(who.account.id)
        : browsers.forgetOthers(ctx, who.account.id));
      const count = await sessions.endAllOf(who.account.id, { except: who.sessionUid });
      await events.record({
        event: 'user.sessions_revoked',
        owner: who.account.id,
        details: { count, is_own: true },
      });
    },
    /**
     * Ends every other session, and every application's access; this session is where the owner goes on.
     * @param ctx as endOtherSessions
     * @param chosen of what was added lately (recent-additions.ts), what is to go
     * @returns of that, how many had to stay
     */
    async reportCompromise(
      who: SelfServiceUser,
      ctx?: Koa.Context,
      chosen: ReadonlySet<string> = new Set(),
    ): Promise<{ readonly kept: number }> {
      const { id } = who.account;
      // First: a sign-in that completes after the list of sessions was read is checked against this (confirmSession).
      await doors.accounts.voidSignInsInProgress(id);
      await (ctx === undefined ? browsers.forgetAll(id) : browsers.forgetOthers(ctx, id));
      const count = await sessions.endAllOf(id, { except: who.sessionUid });
      await trustedDevices.revokeAll(id);
      await doors.recovery.emailChanges.forgetPending(who.account);
      const applications = (await access.list(id)).filter(({ clientId }) => clientId !== CONSOLE_CLIENT_ID);
      for (const { clientId } of applications) await access.remove(id, clientId);
      // Now that whoever added it is signed out, and cannot add it again.
      const { removed, kept } = await additions.remove(who, chosen);
      const details = {
        sessions: count,
        applications: applications.map(({ clientId }) => clientId),
        ...(removed.length > 0 && { removed: removed.map(({ kind }) => kind) }),
        ...(kept.length > 0 && { kept: kept.map(({ kind }) => kind) }),
      };
      // Administrators are told (src/notifications).
      await events.record({ event: 'user.compromise_reported', owner: who.account.id, details });
      return { kept: kept.length };
    },
    /** @throws AppError request.not_found */
    async forgetDevice(who: SelfServiceUser, id: string): Promise<void> {
      if (!(await trustedDevices.revoke(who.account.id, id))) throw new AppError('request.not_found');
      await events.record({ event: 'device.revoked', owner: who.account.id, details: { device_id: id } });
    },
    async forgetDevices(who: SelfServiceUser): Promise<void> {
      const count = await trustedDevices.revokeAll(who.account.id);
      await events.record({ event: 'device.revoked', owner: who.account.id, details: { count } });
    },
    /** @throws AppError grant.not_found */
    async removeApplication(who: SelfServiceUser, clientId: string): Promise<void> {
      if (clientId === CONSOLE_CLIENT_ID || !(await access.remove(who.account.id, clientId)))
        throw new AppError('grant.not_found');
      await events.record({ event: 'consent.revoked', owner: who.account.id, clientId });
    },
    /** @throws AppError request.invalid where there is nothing to verify, request.rate_limited, account.email_frozen */
    async sendVerification(who: SelfServiceUser): Promise<void> {
      const { account } = who;
      if (!doors.mail.canSend()) throw new AppError('mail.off');
      if (account.email !== undefined && !account.isEmailVerified) {
        const what = `verification of ${addressKey(account.email)}`;
        const { ipAddress = '' } = events.origins.current() ?? {};
        // The second, or accounts that name a stranger's address would be a way to fill that mailbox.
        await chargeAll(limits, [
          ['mail_owner', `verification of ${account.id}`],
          ['mail_requester_ip', keyFor(what, ipAddress)],
        ]);
      }
      await doors.recovery.sendEmailVerification(account);
      await events.record({ event: 'email.verification_requested', owner: who.account.id });
    },
  };
}
