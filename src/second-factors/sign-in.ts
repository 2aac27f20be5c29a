import type { Account } from '../accounts/index.ts';
import { deviceName } from '../events/index.ts';
import { readerValues, requestValues } from '../mail/index.ts';
import type { CodeFactor, EnrolledCode } from '../model/ways-to-sign-in.ts';
import type { SecondFactorDoors } from './doors.ts';
import type { Verdict } from './limit.ts';
import type { CodeFactors } from './second-factors.ts';

/** `off`: there is no mail server, so no code was created that nobody would get. */
export type MailedCode = 'sent' | 'cooldown' | 'limited' | 'off';

/** Second factors at a sign-in, with their audit events. */
export interface SignInFactors {
  /** @param attempt.boundTo the interaction; `browser`: the digest by which the account knows the browser */
  verifyAtSignIn(
    account: Pick<Account, 'id'>,
    attempt: {
      readonly method: CodeFactor;
      readonly boundTo: string;
      readonly code: string;
      readonly browser?: string | undefined;
    },
  ): Promise<Verdict | 'expired'>;
  /** @param pending as `totp.begin` returned it */
  enrolTotpAtSignIn(
    account: Pick<Account, 'id'>,
    pending: string,
    code: string,
    isByOldWays: boolean,
  ): Promise<'ok' | 'wrong' | 'expired'>;
  /** @returns the account after the change: a code for its earlier state would be invalid */
  enrolEmailAtSignIn(accountId: string, isByOldWays: boolean): Promise<Account | undefined>;
  /** Whether codes by mail can become this account's factor, by its address, the settings and whether any mail leaves. */
  canUseEmail(account: Account): boolean;
  /** Creates a code and queues the mail. */
  mailCode(account: Account, boundTo: string, browser: string | undefined): Promise<MailedCode>;
  /** Sends the code if the preferred method is one by mail. @returns when, in epoch milliseconds */
  mailFirst(account: Account, boundTo: string, browser: string | undefined): Promise<number | undefined>;
  /**
   * Only directly after a code.
   * @returns the token for the browser's cookie; undefined if the account cannot be used any more
   */
  trustDevice(accountId: string): Promise<string | undefined>;
}

export function createSignInFactors(doors: SecondFactorDoors, factors: CodeFactors): SignInFactors {
  const { accounts, mail, events, settings, clock } = doors;

  async function recordEnrolment(accountId: string, method: EnrolledCode): Promise<void> {
    await events.record({ event: 'mfa.enrolled', owner: accountId, details: { method } });
  }

  async function mailCode(
    account: Account,
    boundTo: string,
    browser: string | undefined,
  ): Promise<MailedCode> {
    if (!mail.canSend()) return 'off';
    const started = await factors.startEmail(account, boundTo, browser);
    if (typeof started === 'string') return started;
    if (account.email === undefined || !account.isEmailVerified) return 'sent';
    const expiresSeconds = Math.round((started.expiresAt - clock()) / 1000);
    const { values, language } = requestValues(events.origins.current(), clock());
    await mail.queue({
      to: account.email,
      accountId: account.id,
      template: 'sign_in_code',
      values: { ...readerValues(account), ...values, code: started.code, expiresSeconds },
      language,
    });
    return 'sent';
  }

  return {
    async verifyAtSignIn({ id }, { method, ...attempt }) {
      const verdict = await factors.verify({ method, accountId: id, ...attempt });
      const details = { method };
      if (verdict !== 'ok') {
        // Without a valid factor, the user is not identified.
        await events.record({
          event: 'mfa.failure',
          reason: `code_${verdict}`,
          target: { kind: 'user', id },
          details,
        });
        return verdict;
      }
      await events.record({ event: 'mfa.success', owner: id, details });
      if (method === 'recovery') await events.record({ event: 'recovery.used', owner: id });
      return verdict;
    },

    async enrolTotpAtSignIn({ id }, pending, code, isByOldWays) {
      const outcome = await factors.totp.confirm(id, pending, code, isByOldWays);
      if (outcome === 'ok') await recordEnrolment(id, 'totp');
      return outcome;
    },

    async enrolEmailAtSignIn(accountId, isByOldWays) {
      await factors.setEmailFactor(accountId, true, { isByOldWays });
      const account = await accounts.findUsable(accountId);
      if (account !== undefined) await recordEnrolment(accountId, 'email');
      return account;
    },

    canUseEmail: ({ email, isEmailVerified }) =>
      mail.canSend() && settings().allow_email_codes && email !== undefined && isEmailVerified,

    mailCode,

    async mailFirst(account, boundTo, browser) {
      const [first] = factors.methodsOf(account);
      if (first !== 'email' || account.role !== 'user') return undefined;
      return (await mailCode(account, boundTo, browser)) === 'sent' ? clock() : undefined;
    },

    async trustDevice(accountId) {
      // Read again, because the code that was just verified changed the account.
      const account = await accounts.findUsable(accountId);
      if (account === undefined) return undefined;
      const { ipAddress = '', userAgent = '' } = events.origins.current() ?? {};
      const label = deviceName(userAgent);
      const { id, token } = await factors.trustedDevices.create({ account, ipAddress, userAgent, label });
      const details = { device_id: id };
      await events.record({ event: 'device.trusted', owner: accountId, details });
      return token;
    },
  };
}
