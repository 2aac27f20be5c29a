// Owns what people do to their own password and second factor: the change, and what goes with it everywhere (other
// sessions, trusted browsers, the audit log, a mail). The pages are src/self-service (own-account.ts puts them
// together).
import type Koa from 'koa';
import { acrOf } from '../../interactions/signin-steps.ts';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Authenticate } from '../accounts/authenticate.ts';
import type { ProofMethod } from '../accounts/freshness.ts';
import { hasPasskey, hasSecondFactor } from '../accounts/security-state.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEventName } from '../audit/events.ts';
import { AppError } from '../errors.ts';
import type { MailTemplate } from '../mail/index.ts';
import type { BrowserSession } from '../oidc/browser-session.ts';
import { mayBeLeftWith } from '../second-factors/factor-policy.ts';
import type { Visitor } from '../self-service/visit.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SettingValues } from '../settings/schema.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Factors } from './factors.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { PasskeyApp } from './passkeys.ts';

interface Parts {
  readonly current: () => SettingValues;
  readonly browser: BrowserSession;
  readonly accounts: Pick<Accounts, 'find' | 'update' | 'voidProofs'>;
  readonly passkeys: Pick<PasskeyApp, 'mode' | 'strongestAcr' | 'add' | 'remove'>;
  readonly factors: Pick<Factors, 'factors' | 'signIn' | 'tellOwnerOf'>;
  readonly sessions: Pick<Sessions, 'end' | 'endAllOf'>;
  readonly audit: Pick<Audit, 'write'>;
  /** Counts and locks as a sign-in does. */
  readonly checkPassword: Authenticate;
  readonly knownBrowsers: Pick<KnownBrowsers, 'fromBrowser' | 'remember'>;
  /** Whether nothing has ended this account's sign-ins since; else that session is ended. */
  readonly confirmSession: (login: { accountId: string; uid: string; provenAt: number }) => Promise<boolean>;
}

export function createOwnProofs(parts: Parts) {
  const { current, browser, accounts, passkeys, sessions, audit, checkPassword, confirmSession } = parts;
  const { knownBrowsers } = parts;
  const { factors, signIn, tellOwnerOf } = parts.factors;

  /** Written down and mailed. */
  async function tell(
    ctx: Koa.Context,
    { account }: Visitor,
    event: AuditEventName,
    mail: MailTemplate,
    details?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const user = { kind: 'user', id: account.id } as const;
    await audit.write({ event, actor: user, target: user, details });
    await tellOwnerOf(ctx, account.id, mail);
  }

  /**
   * R063: whoever else is signed in, or is half-way there, proved less than the account asks for now. This browser gets
   * a new identifier.
   */
  async function stayAlone(
    ctx: Koa.Context,
    who: Visitor,
    methods: readonly ProofMethod[] = [],
  ): Promise<void> {
    // First: a sign-in that ends after the list of sessions was read looks here again (confirmSession).
    await accounts.voidProofs(who.account.id);
    await sessions.endAllOf(who.account.id, { except: who.sessionUid });
    // They are void already (security-state.ts); this takes them out of the store.
    await factors.trustedDevices.revokeAll(who.account.id);
    if (!who.isBrowser) return;
    const amr = [...new Set([...who.amr, ...(methods.includes('totp') ? ['otp', 'mfa'] : [])])];
    // What was authenticated before is no fresher for it.
    const { signedInAt: loginTs, methodTimes } = who;
    const login = { accountId: who.account.id, amr, acr: acrOf(amr), loginTs, methodTimes, methods };
    const uid = await browser.signIn(ctx, login);
    // Ended by somebody else in this very moment: it must not come back as a new one.
    if (uid !== who.sessionUid) await sessions.end(uid);
  }

  const policy = () => ({ mfaMode: current().mfa_mode, authMode: passkeys.mode() });

  function keepEnough(after: Readonly<AccountRecord>): void {
    if (!mayBeLeftWith(after, policy())) throw new AppError('mfa.required');
  }

  const without = (account: Account, member: 'totp' | 'hasEmailCodes'): AccountRecord => {
    const { [member]: _gone, ...rest } = account;
    return rest;
  };

  return {
    isPasswordEnough: ({ account }: Visitor): boolean => passkeys.strongestAcr(account) === undefined,

    async changePassword(
      ctx: Koa.Context,
      who: Visitor,
      { given, next }: { readonly given: string; readonly next: string },
    ): Promise<'changed' | 'wrong'> {
      const { account } = who;
      // What will not do costs neither a hash nor a try.
      await signIn.checkPassword(account.id, next);
      const hasPassword = account.passwordHash !== undefined;
      const from = who.isBrowser ? knownBrowsers.fromBrowser(ctx) : undefined;
      const proven = hasPassword ? await checkPassword(account.username, given, from) : account;
      if (proven?.id !== account.id) return 'wrong';
      // Of that version: a password that was replaced a moment ago, by mail or an administrator, is proven no more.
      const changed = await accounts.update(account.id, { password: next }, { version: proven.version });
      await factors.trustedDevices.revokeAll(account.id);
      await tell(ctx, who, 'password.changed', 'password_changed');
      if (!who.isBrowser) return 'changed';
      await knownBrowsers.remember(ctx, account.id);
      const amr = who.isFresh ? [...who.amr] : ['pwd'];
      const changedAt = changed.authenticatedNotBefore ?? 0;
      // A new password is no authentication, giving the one before is. The session is a new one, which counts from the
      // change on: what was authenticated before the change is worth nothing to the account (authenticatedNotBefore).
      const login = { accountId: account.id, amr, acr: acrOf(amr), loginTs: Math.floor(changedAt / 1000) };
      const methods: readonly ProofMethod[] = hasPassword ? ['password'] : [];
      const uid = await browser.signIn(ctx, { ...login, methodTimes: who.methodTimes, methods });
      // A change that came right after this one has ended all sessions, and could not know of the new one.
      await confirmSession({ accountId: account.id, uid, provenAt: changedAt + 1 });
      return 'changed';
    },

    state({ account }: Visitor) {
      return {
        appSince: account.totp?.enrolledAt,
        hasFactor: hasSecondFactor(account),
        hasEmailCodes: account.hasEmailCodes === true,
        codesLeft: account.recoveryCodes?.length ?? 0,
        canRemoveApp: mayBeLeftWith(without(account, 'totp'), policy()),
        canRemoveEmail: mayBeLeftWith(without(account, 'hasEmailCodes'), policy()),
      };
    },

    begin: ({ account }: Visitor) => factors.totp.begin(account),
    reopen: ({ account }: Visitor, pending: string) => factors.totp.reopen(account, pending),

    async confirm(ctx: Koa.Context, who: Visitor, pending: string, code: string) {
      const { id, totp } = who.account;
      const outcome = await factors.totp.confirm(id, pending, code);
      if (outcome !== 'ok') return outcome;
      const isReplaced = totp !== undefined;
      const details = { method: 'totp', is_replaced: isReplaced };
      const mail = isReplaced ? 'second_factor_replaced' : 'second_factor_added';
      await tell(ctx, who, 'mfa.enrolled', mail, details);
      await stayAlone(ctx, who, ['totp']);
      const hasCodes = ((await accounts.find(id))?.recoveryCodes ?? []).length > 0;
      return { codes: hasCodes ? undefined : await factors.recoveryCodes.generate(id) };
    },

    async removeApp(ctx: Koa.Context, who: Visitor): Promise<void> {
      if (!(await factors.totp.remove(who.account.id, keepEnough))) return;
      await tell(ctx, who, 'mfa.removed', 'second_factor_removed', { method: 'totp' });
      await stayAlone(ctx, who);
    },

    async removeEmail(ctx: Koa.Context, who: Visitor): Promise<void> {
      if (who.account.hasEmailCodes !== true) return;
      await factors.setEmailFactor(who.account.id, false, keepEnough);
      await tell(ctx, who, 'mfa.removed', 'second_factor_removed', { method: 'email' });
      await stayAlone(ctx, who);
    },

    async addPasskey(ctx: Koa.Context, who: Visitor, input: { boundTo: string; response: unknown }) {
      const made = await passkeys.add(ctx, { ...input, accountId: who.account.id });
      await stayAlone(ctx, who);
      return made;
    },

    async removePasskey(ctx: Koa.Context, who: Visitor, id: string): Promise<void> {
      await passkeys.remove(ctx, who.account, id);
      await stayAlone(ctx, who);
    },

    async makeCodes(ctx: Koa.Context, who: Visitor): Promise<readonly string[]> {
      // Codes that are not asked for would lie in wait until they are; beside a passkey they are its way back.
      if (current().mfa_mode === 'off' && !hasPasskey(who.account)) throw new AppError('mfa.off');
      const codes = await factors.recoveryCodes.generate(who.account.id);
      await tell(ctx, who, 'recovery.generated', 'recovery_codes_replaced', { count: codes.length });
      return codes;
    },
  };
}
