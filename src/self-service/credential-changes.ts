// Changes of a user's own password, second factor and passkeys, with their consequences: other sessions end, trusted
// devices are revoked, the audit log records the change, and the owner is notified.
import type Koa from 'koa';
import {
  type Account,
  checkNewPassword,
  hasPasskey,
  hasSecondFactor,
  mayBeLeftWith,
} from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import type { EventName } from '../events/index.ts';
import { amrOf, type WayToSignIn } from '../model/ways-to-sign-in.ts';
import { acrOf } from '../oidc/index.ts';
import { mergeMethodTimes, stampMethods } from '../sessions/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { SelfServiceDoors } from './doors.ts';
import { emailCodesOf } from './overview.ts';
import type { SelfServiceUser } from './page-kit.ts';

export function createCredentialChanges(doors: SelfServiceDoors) {
  const {
    settings,
    signedIn,
    browser,
    accounts,
    passkeys,
    sessions,
    events,
    checkPassword,
    confirmSession,
    baseUrl,
  } = doors;
  const { browsers, secondFactors, recovery } = doors;

  /** The owner is notified by mail (src/notifications). */
  async function record(
    { account }: SelfServiceUser,
    event: EventName,
    details?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await events.record({ event, owner: account.id, details });
  }

  /**
   * R063: every other session, complete or not, was authenticated with less than the account now requires. This
   * browser gets a new session identifier.
   */
  async function endOtherSessions(
    ctx: Koa.Context,
    who: SelfServiceUser,
    methods: readonly WayToSignIn[] = [],
  ): Promise<void> {
    // First: a sign-in that completes after the list of sessions was read is checked against this (confirmSession).
    await accounts.voidSignInsInProgress(who.account.id);
    await sessions.endAllOf(who.account.id, { except: who.sessionUid });
    // They are already invalid (security-state.ts); this removes them from the store.
    await secondFactors.trustedDevices.revokeAll(who.account.id);
    if (!who.isBrowser) return;
    const amr = [...new Set([...who.amr, ...(methods.includes('totp') ? amrOf('totp') : [])])];
    // This does not make the earlier authentication fresher.
    const { signedInAt: loginTs, methodTimes } = who;
    const login = { accountId: who.account.id, amr, acr: acrOf(amr), loginTs, methodTimes, methods };
    const uid = await browser.signIn(ctx, login);
    // Another request ended it at this moment, so it must not return as a new session.
    if (uid !== who.sessionUid) await sessions.end(uid);
  }

  /**
   * After a change that ended every session: a new one here, which counts from the change on. Authentication before it is void
   * for the account (authenticatedNotBefore); the session is of the same one, unless another was given with the change.
   */
  async function goOnHere(
    ctx: Koa.Context,
    who: SelfServiceUser,
    changed: Account,
    methods: readonly WayToSignIn[] = [],
  ): Promise<void> {
    const { id: accountId, authenticatedNotBefore: changedAt = 0 } = changed;
    await browsers.remember(ctx, accountId);
    const confirmedAt = Math.floor(changedAt / 1000);
    const isNewer = methods.length > 0 && !who.isFresh;
    const amr = [...(isNewer ? amrOf('password') : who.amr)];
    const loginTs = isNewer ? confirmedAt : who.signedInAt;
    const { methodTimes } = who;
    const login = { accountId, amr, acr: acrOf(amr), loginTs, confirmedAt, methodTimes, methods };
    const uid = await browser.signIn(ctx, login);
    // A change directly after this one ended all sessions, but could not include the new one.
    await confirmSession({ accountId, uid, provenAt: changedAt + 1 });
  }

  /** Whether what is made outlives the stop of a change of address. */
  const isByOldWays = (
    { account, methodTimes }: SelfServiceUser,
    methods: readonly WayToSignIn[] = [],
  ): boolean =>
    accounts.isByOldWays(account, mergeMethodTimes(methodTimes, stampMethods(methods, doors.clock())));

  /** Each is a mail to the owner, who would not find the others among them. @throws AppError request.rate_limited */
  const limitMails = ({ account }: SelfServiceUser, act: string) =>
    doors.limits.consume('mail_acts', `${act} of ${account.id}`);

  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: settings().auth_mode });

  function keepEnough(after: Readonly<AccountRecord>): void {
    if (!mayBeLeftWith(after, policy())) throw new AppError('mfa.required');
  }

  const without = (account: Account, member: 'totp' | 'hasEmailCodes'): AccountRecord => {
    const { [member]: _gone, ...rest } = account;
    return rest;
  };

  return {
    isPasswordEnough: ({ account }: SelfServiceUser): boolean => signedIn.strongestAcr(account) === undefined,

    async changePassword(
      ctx: Koa.Context,
      who: SelfServiceUser,
      { given, next }: { readonly given: string; readonly next: string },
    ): Promise<'changed' | 'wrong'> {
      const { account } = who;
      // An unacceptable password costs neither a hash nor an attempt.
      checkNewPassword(next, account, { settings: settings(), baseUrl });
      const hasPassword = account.passwordHash !== undefined;
      const from = who.isBrowser ? browsers.fromBrowser(ctx) : undefined;
      const proven = hasPassword ? await checkPassword(account.username, given, from) : account;
      if (proven?.id !== account.id) return 'wrong';
      // With the version: a mailed link or an administrator may just have replaced the password.
      const changed = await accounts.changeOwnAccount(
        account.id,
        { password: next },
        { version: proven.version, isByOldWays: isByOldWays(who, hasPassword ? ['password'] : []) },
      );
      await secondFactors.trustedDevices.revokeAll(account.id);
      await record(who, 'password.changed');
      if (!who.isBrowser) return 'changed';
      // A new password is no authentication, the current one is.
      await goOnHere(ctx, who, changed, hasPassword ? ['password'] : []);
      return 'changed';
    },

    emails: {
      async makePrimary(ctx: Koa.Context, who: SelfServiceUser, address: string): Promise<void> {
        const changed = await recovery.emailChanges.makePrimary(who.account, address);
        if (who.isBrowser) await goOnHere(ctx, who, changed);
      },

      /** @returns whether it had counted: then whoever has that mailbox may be signed in by it */
      async remove(ctx: Koa.Context, who: SelfServiceUser, address: string): Promise<boolean> {
        const hadCounted = await recovery.emailChanges.remove(who.account, address);
        if (hadCounted) await endOtherSessions(ctx, who);
        return hadCounted;
      },
    },

    async addPasskey(ctx: Koa.Context, who: SelfServiceUser, input: { boundTo: string; response: unknown }) {
      const added = await passkeys.add({
        ...input,
        accountId: who.account.id,
        isByOldWays: isByOldWays(who),
      });
      await endOtherSessions(ctx, who);
      return added;
    },

    async removePasskey(ctx: Koa.Context, who: SelfServiceUser, id: string): Promise<void> {
      await passkeys.removeOwn(who.account, id);
      await endOtherSessions(ctx, who);
    },

    secondFactor: {
      state({ account }: SelfServiceUser) {
        return {
          appSince: account.totp?.enrolledAt,
          hasFactor: hasSecondFactor(account),
          hasEmailCodes: account.hasEmailCodes === true,
          canUseEmail: emailCodesOf(account, settings()),
          codesLeft: account.recoveryCodes?.length ?? 0,
          canRemoveApp: mayBeLeftWith(without(account, 'totp'), policy()),
          canRemoveEmail: mayBeLeftWith(without(account, 'hasEmailCodes'), policy()),
        };
      },

      begin: ({ account }: SelfServiceUser) => secondFactors.totp.begin(account),
      reopen: ({ account }: SelfServiceUser, pending: string) => secondFactors.totp.reopen(account, pending),

      async confirm(ctx: Koa.Context, who: SelfServiceUser, pending: string, code: string) {
        const { id, totp } = who.account;
        const outcome = await secondFactors.totp.confirm(id, pending, code, isByOldWays(who));
        if (outcome !== 'ok') return outcome;
        const isReplaced = totp !== undefined;
        const details = { method: 'totp', is_replaced: isReplaced };
        await record(who, 'mfa.enrolled', details);
        await endOtherSessions(ctx, who, ['totp']);
        const hasCodes = ((await accounts.find(id))?.recoveryCodes ?? []).length > 0;
        return {
          codes: hasCodes ? undefined : await secondFactors.recoveryCodes.generate(id, isByOldWays(who)),
        };
      },

      async removeApp(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
        if (!(await secondFactors.totp.remove(who.account.id, keepEnough))) return;
        await record(who, 'mfa.removed', { method: 'totp' });
        await endOtherSessions(ctx, who);
      },

      /** @returns recovery codes if there were none: a lost mailbox must not be the end of the account */
      async addEmail(ctx: Koa.Context, who: SelfServiceUser): Promise<readonly string[] | undefined> {
        const { id } = who.account;
        if (emailCodesOf(who.account, settings()) !== 'now') throw new AppError('mfa.email_off');
        if (who.account.hasEmailCodes === true) return undefined;
        await limitMails(who, 'codes by mail');
        await secondFactors.setEmailFactor(id, true, { isByOldWays: isByOldWays(who) });
        await record(who, 'mfa.enrolled', { method: 'email' });
        await endOtherSessions(ctx, who);
        const hasCodes = ((await accounts.find(id))?.recoveryCodes ?? []).length > 0;
        return hasCodes ? undefined : secondFactors.recoveryCodes.generate(id, isByOldWays(who));
      },

      async removeEmail(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
        if (who.account.hasEmailCodes !== true) return;
        await limitMails(who, 'codes by mail');
        await secondFactors.setEmailFactor(who.account.id, false, { check: keepEnough });
        await record(who, 'mfa.removed', { method: 'email' });
        await endOtherSessions(ctx, who);
      },

      async createCodes(_ctx: Koa.Context, who: SelfServiceUser): Promise<readonly string[]> {
        // With codes switched off they would be unused secrets, except beside a passkey, for which they are the
        // recovery.
        if (settings().mfa_mode === 'off' && !hasPasskey(who.account)) throw new AppError('mfa.off');
        await limitMails(who, 'recovery codes');
        const codes = await secondFactors.recoveryCodes.generate(who.account.id, isByOldWays(who));
        await record(who, 'recovery.generated', { count: codes.length });
        return codes;
      },
    },
  };
}
