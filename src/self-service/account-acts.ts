// A user's actions on their own account other than its credentials: ending sessions, revoking trusted devices,
// removing applications, requesting a verification mail. The pages and the API share them.
import type Koa from 'koa';
import { type Account, type Accounts, addressKey } from '../accounts/index.ts';
import { CONSOLE_CLIENT_ID } from '../clients/index.ts';
import { AppError } from '../errors.ts';
import type { Events } from '../events/index.ts';
import { chargeAll, keyFor, type RateLimits } from '../rate-limits/index.ts';
import type { Recovery } from '../recovery/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import type { ApplicationAccesses, Sessions } from '../sessions/index.ts';
import type { HomeDeps } from './home-page.ts';
import type { RecentAdditions } from './recent-additions.ts';

export interface KnownBrowsers {
  isKnown(ctx: Koa.Context, account: Account): boolean;
  forgetAll(accountId: string): Promise<void>;
  forgetOthers(ctx: Koa.Context, accountId: string): Promise<void>;
}

export interface AccountActsDeps {
  readonly sessions: Pick<Sessions, 'find' | 'end' | 'endAllOf'>;
  readonly access: Pick<ApplicationAccesses, 'list' | 'remove'>;
  readonly accounts: Pick<Accounts, 'voidSignInsInProgress'>;
  readonly secondFactors: Pick<SecondFactors, 'trustedDevices'>;
  readonly recovery: Pick<Recovery, 'sendEmailVerification'> & {
    readonly emailChanges: Pick<Recovery['emailChanges'], 'forgetPending'>;
  };
  readonly events: Pick<Events, 'record' | 'origins'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly canSendMail: () => boolean;
  readonly knownBrowsers: Pick<KnownBrowsers, 'forgetAll' | 'forgetOthers'>;
  readonly additions: Pick<RecentAdditions, 'remove'>;
}

export function createAccountActs(deps: AccountActsDeps): HomeDeps['acts'] {
  const { sessions, access, events, limits, knownBrowsers } = deps;
  const { trustedDevices } = deps.secondFactors;

  return {
    async endSession(who, id) {
      const session = await sessions.find(id);
      if (session?.value.accountId !== who.account.id) throw new AppError('session.not_found');
      await sessions.end(id);
    },
    async endOtherSessions(who, ctx) {
      // First: a browser that became known in a session that is being ended must not pass a lock because of it.
      await (ctx === undefined
        ? knownBrowsers.forgetAll(who.account.id)
        : knownBrowsers.forgetOthers(ctx, who.account.id));
      const count = await sessions.endAllOf(who.account.id, { except: who.sessionUid });
      await events.record({
        event: 'user.sessions_revoked',
        owner: who.account.id,
        details: { count, is_own: true },
      });
    },
    async reportCompromise(who, ctx, chosen = new Set()) {
      const { id } = who.account;
      // First: a sign-in that completes after the list of sessions was read is checked against this (confirmSession).
      await deps.accounts.voidSignInsInProgress(id);
      await (ctx === undefined ? knownBrowsers.forgetAll(id) : knownBrowsers.forgetOthers(ctx, id));
      const count = await sessions.endAllOf(id, { except: who.sessionUid });
      await trustedDevices.revokeAll(id);
      await deps.recovery.emailChanges.forgetPending(who.account);
      const applications = (await access.list(id)).filter(({ clientId }) => clientId !== CONSOLE_CLIENT_ID);
      for (const { clientId } of applications) await access.remove(id, clientId);
      // Now that whoever added it is signed out, and cannot add it again.
      const { removed, kept } = await deps.additions.remove(who, chosen);
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
    async forgetDevice(who, id) {
      if (!(await trustedDevices.revoke(who.account.id, id))) throw new AppError('request.not_found');
      await events.record({ event: 'device.revoked', owner: who.account.id, details: { device_id: id } });
    },
    async forgetDevices(who) {
      const count = await trustedDevices.revokeAll(who.account.id);
      await events.record({ event: 'device.revoked', owner: who.account.id, details: { count } });
    },
    async removeApplication(who, clientId) {
      if (clientId === CONSOLE_CLIENT_ID || !(await access.remove(who.account.id, clientId)))
        throw new AppError('grant.not_found');
      await events.record({ event: 'consent.revoked', owner: who.account.id, clientId });
    },
    async sendVerification(who) {
      const { account } = who;
      if (!deps.canSendMail()) throw new AppError('mail.off');
      if (account.email !== undefined && !account.isEmailVerified) {
        const what = `verification of ${addressKey(account.email)}`;
        const { ipAddress = '' } = events.origins.current() ?? {};
        // The second, or accounts that name a stranger's address would be a way to fill that mailbox.
        await chargeAll(limits, [
          ['mail_owner', `verification of ${account.id}`],
          ['mail_requester_ip', keyFor(what, ipAddress)],
        ]);
      }
      await deps.recovery.sendEmailVerification(account);
      await events.record({ event: 'email.verification_requested', owner: who.account.id });
    },
  };
}
