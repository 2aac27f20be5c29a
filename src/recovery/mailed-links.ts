import { type Account, type Accounts, addressKey, isUsable, ownAddress } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { deviceName, type Events } from '../events/index.ts';
import { type Mail, type MailValues, type Requester, readerValues } from '../mail/index.ts';
import { ours } from '../phrase.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { arePasswordsOff, type SettingValues } from '../settings/index.ts';
import type { MailRequestRecord } from '../store/collections.ts';
import type { Links } from './links.ts';
import type { EmailChanges } from './own-emails.ts';

interface Deps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly links: Pick<Links, 'create'>;
  readonly accounts: Pick<Accounts, 'findUsable' | 'findByLogin'>;
  readonly mail: Pick<Mail, 'queue' | 'requests'>;
  readonly limits: Pick<RateLimits, 'isWithin'>;
  readonly events: Pick<Events, 'record'>;
  readonly isStopped: EmailChanges['isStopped'];
}

export interface MailedLinks {
  /**
   * Stores the request for a link; whether the account exists is checked later, outside of the request (checklist
   * R085).
   */
  requestLink(
    request: {
      readonly kind: 'password_reset' | 'magic_link';
      readonly email: string;
      readonly interaction: string | undefined;
    },
    requester: Requester,
  ): Promise<void>;
  /**
   * By an administrator, so the mail does not say where it was requested.
   * @throws AppError request.invalid where the link could not be sent or used
   */
  sendPasswordReset(account: Account): Promise<void>;
  /**
   * By an administrator or the owner.
   * @throws AppError request.invalid where there is nothing to verify, account.email_frozen
   */
  sendEmailVerification(account: Account): Promise<void>;
}

const paths = {
  password_reset: 'reset-password',
  magic_link: 'magic-link',
  email_verification: 'verify-email',
} as const;

export function createMailedLinks(deps: Deps): MailedLinks {
  const { baseUrl, clock, settings, links, accounts, mail, limits, events, isStopped } = deps;

  async function mailLink(link: {
    readonly account: Account;
    readonly to: string;
    readonly kind: keyof typeof paths;
    readonly values: MailValues;
    readonly language: string | undefined;
    readonly boundTo?: string | undefined;
  }): Promise<void> {
    const { account, to, kind, language, boundTo } = link;
    const bound = boundTo === undefined ? {} : { boundTo };
    const { token, expiresAt } = await links.create({ account, to, purpose: kind, ...bound });
    const url = `${baseUrl}/oauth2/${paths[kind]}?token=${token}`;
    const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
    const values = { ...readerValues(account), ...link.values, url, expiresSeconds };
    await mail.queue({ to, accountId: account.id, template: kind, language, values });
  }

  async function answer(request: MailRequestRecord, kind: 'password_reset' | 'magic_link'): Promise<void> {
    const { email, ipAddress, userAgent, language, interaction } = request;
    const found = await accounts.findByLogin(email);
    const account = found && (await accounts.findUsable(found.id));
    // An unverified address may belong to another person (R129). Whoever has one of several gets it there: the primary
    // mailbox may be the one that is lost.
    const to = account && (ownAddress(account, email) ?? ownAddress(account, account.email ?? ''));
    if (account === undefined || to === undefined) return;
    if (!(await limits.isWithin('mail_address', addressKey(to)))) return;
    const isReset = kind === 'password_reset';
    const { allow_password_reset: canReset, allow_magic_link: canUseLinks } = settings();
    if (arePasswordsOff(settings()) || !(isReset ? canReset : canUseLinks)) return;
    const values = { ipAddress, device: deviceName(userAgent), at: clock() };
    await events.record({
      event: isReset ? 'password.reset_requested' : 'magic_link.requested',
      // Anyone who knows the address may request a link, and that request has already ended.
      actor: { kind: 'anonymous' },
      target: { kind: 'user', id: account.id },
      details: { ip_address: ipAddress, device: values.device },
    });
    const chosen = account.profile.locale ?? language;
    await mailLink({ account, to, kind, values, language: chosen, boundTo: interaction });
  }

  for (const kind of ['password_reset', 'magic_link'] as const)
    mail.requests.on(kind, (request) => answer(request, kind));

  return {
    requestLink: ({ interaction, ...request }, requester) =>
      mail.requests.request({ ...request, ...requester, ...(interaction !== undefined && { interaction }) }),

    async sendPasswordReset(account) {
      const { email: to, isEmailVerified, isActive } = account;
      if (arePasswordsOff(settings())) throw new AppError('password.off');
      if (to === undefined || !isEmailVerified) throw cannotReset('email', 'has no verified e-mail address');
      if (!isActive) throw cannotReset('is_active', 'is deactivated');
      await mailLink({ account, to, kind: 'password_reset', values: {}, language: account.profile.locale });
    },

    async sendEmailVerification(account) {
      const { email: to, isEmailVerified } = account;
      if (to === undefined) throw cannotVerify('email', 'has no e-mail address');
      if (isEmailVerified) throw cannotVerify('is_email_verified', 'has a verified address already');
      if (!isUsable(account)) throw cannotVerify('is_active', 'is deactivated or locked');
      // Whoever has that mailbox would use the link before the owner has decided between the two.
      if (await isStopped(account)) throw new AppError('account.email_frozen');
      const language = account.profile.locale;
      await mailLink({ account, to, kind: 'email_verification', values: {}, language });
    },
  };
}

const cannot = (message: string, field: string, problem: string) =>
  new AppError('request.invalid', { message, fields: { [field]: `The user ${ours(problem)}.` } });

const cannotReset = (field: string, problem: string) =>
  cannot(`No link to a new password can be sent: this user ${ours(problem)}.`, field, problem);
const cannotVerify = (field: string, problem: string) =>
  cannot(`No link to verify an address can be sent: this user ${ours(problem)}.`, field, problem);
