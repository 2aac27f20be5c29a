// Owns putting together who gets a link by mail, and which: at a stranger's wish, at an administrator's
// (src/app/create-app.ts builds the rest).

import { type Account, isUsable } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { addressKey } from '../accounts/email.ts';
import type { Audit } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { deviceName } from '../http/device-name.ts';
import type { Mail, MailValues } from '../mail/index.ts';
import type { RateLimits } from '../rate-limits/limits.ts';
import type { SettingValues } from '../settings/schema.ts';
import type { MailRequestRecord } from '../store/collections.ts';
import type { createLinks } from './links.ts';

interface Parts {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly links: Pick<ReturnType<typeof createLinks>, 'create'>;
  readonly mail: Pick<Mail, 'queue' | 'requests'>;
  readonly limits: Pick<RateLimits, 'isWithin'>;
  readonly findByLogin: Accounts['findByLogin'];
  readonly findUsable: (id: string) => Promise<Account | undefined>;
  readonly audit: Pick<Audit, 'write'>;
  /** Where only passkeys sign in there is no password to forget. */
  readonly arePasswordsOff: () => boolean;
}

export interface MailedLinks {
  /**
   * At an administrator's wish, so it tells nothing of a request.
   * @throws AppError request.invalid where the link could not be sent or used
   */
  sendPasswordReset(account: Account): Promise<void>;
  /** At an administrator's wish. @throws AppError request.invalid where there is nothing to verify */
  sendEmailVerification(account: Account): Promise<void>;
}

const paths = {
  password_reset: 'reset-password',
  magic_link: 'magic-link',
  email_verification: 'verify-email',
} as const;

export function createMailedLinks(parts: Parts): MailedLinks {
  const { baseUrl, clock, current, links, mail, limits } = parts;
  const { findByLogin, findUsable, arePasswordsOff, audit } = parts;

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
    const { token, expiresAt } = await links.create({ account, purpose: kind, ...bound });
    const url = `${baseUrl}/oauth2/${paths[kind]}?token=${token}`;
    const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
    const values = { ...link.values, url, expiresSeconds, username: account.username };
    await mail.queue({ to, template: kind, language, values });
  }

  async function answer(request: MailRequestRecord, kind: 'password_reset' | 'magic_link'): Promise<void> {
    const { email, ipAddress, userAgent, language, interaction } = request;
    const found = await findByLogin(email);
    const account = found && (await findUsable(found.id));
    // An address that is not verified may be a stranger's (R129).
    if (account?.email === undefined || !account.isEmailVerified) return;
    if (!(await limits.isWithin('mail_address', addressKey(account.email)))) return;
    const isReset = kind === 'password_reset';
    if (arePasswordsOff() || !(isReset ? current().allow_password_reset : current().allow_magic_link)) return;
    const values = { ipAddress, device: deviceName(userAgent), at: clock() };
    await audit.write({
      event: isReset ? 'password.reset_requested' : 'magic_link.requested',
      // Anyone who knows the address may ask; the request that asked is over.
      actor: { kind: 'anonymous' },
      target: { kind: 'user', id: account.id },
      details: { ip_address: ipAddress, device: values.device },
    });
    await mailLink({ account, to: account.email, kind, values, language, boundTo: interaction });
  }

  for (const kind of ['password_reset', 'magic_link'] as const)
    mail.requests.on(kind, (request) => answer(request, kind));

  return {
    async sendPasswordReset(account) {
      const { email: to, isEmailVerified, isActive } = account;
      if (arePasswordsOff()) throw new AppError('password.off');
      if (to === undefined || !isEmailVerified) throw cannotReset('email', 'has no verified e-mail address');
      if (!isActive) throw cannotReset('is_active', 'is deactivated');
      await mailLink({ account, to, kind: 'password_reset', values: {}, language: account.profile.locale });
    },

    async sendEmailVerification(account) {
      const { email: to, isEmailVerified } = account;
      if (to === undefined) throw cannotVerify('email', 'has no e-mail address');
      if (isEmailVerified) throw cannotVerify('is_email_verified', 'has a verified address already');
      if (!isUsable(account)) throw cannotVerify('is_active', 'is deactivated or locked');
      const language = account.profile.locale;
      await mailLink({ account, to, kind: 'email_verification', values: {}, language });
    },
  };
}

const cannot = (what: string) => (field: string, problem: string) =>
  new AppError('request.invalid', {
    message: `${what}: this user ${problem}.`,
    fields: { [field]: `The user ${problem}.` },
  });

const cannotReset = cannot('No link to a new password can be sent');
const cannotVerify = cannot('No link to verify an address can be sent');
