import { type Account, addressChangeOf, addressKey, isUsable, ownAddress } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { deviceName } from '../events/index.ts';
import { type MailValues, type Queued, type Requester, readerValues } from '../mail/index.ts';
import { ours } from '../phrase.ts';
import { keyFor } from '../rate-limits/index.ts';
import { arePasswordsOff } from '../settings/index.ts';
import type { MailRequestRecord } from '../store/collections.ts';
import type { RecoveryDoors } from './doors.ts';
import { FORMER_WAIT_MS, formerFactorOf } from './former-address.ts';
import type { Links } from './links.ts';
import type { EmailChanges } from './own-emails.ts';

export interface MailedLinks {
  /**
   * Stores the request for a link; whether the account exists is checked later, outside of the request.
   */
  requestLink(
    request: {
      readonly kind: RequestedKind;
      readonly email: string;
      readonly interaction: string | undefined;
    },
    requester: Requester,
  ): Promise<void>;
  /** @returns by what the account of that name or address knows the browser; undefined where it doesn't, or there is none */
  knownIn(login: string, browser: readonly string[]): Promise<string | undefined>;
  /**
   * By an administrator, so the mail does not say where it was requested.
   * @throws AppError request.invalid where the link could not be sent or used
   */
  sendPasswordReset(account: Account): Promise<Queued>;
  /**
   * By an administrator or the owner.
   * @throws AppError request.invalid where there is nothing to verify, account.email_frozen
   */
  sendEmailVerification(account: Account): Promise<Queued>;
}

type RequestedKind = 'password_reset' | 'magic_link';
type Asked = MailRequestRecord & { readonly browser: readonly string[] };

/** A link that is valid for so long is in the mailbox, and time enough to use it. */
const LASTING_MS = 300_000;

const paths = {
  password_reset: 'reset-password',
  magic_link: 'magic-link',
  email_verification: 'verify-email',
} as const;

export function createMailedLinks(
  doors: RecoveryDoors,
  links: Links,
  isStopped: EmailChanges['isStopped'],
): MailedLinks {
  const { baseUrl, clock, settings, accounts, signIns, mail, limits, events } = doors;

  async function mailLink(link: {
    readonly account: Account;
    readonly to: string;
    readonly kind: keyof typeof paths;
    readonly values: MailValues;
    readonly language: string | undefined;
    readonly boundTo?: string | undefined;
    readonly waitsMs?: number;
  }): Promise<Queued> {
    const { account, to, kind, language, boundTo, waitsMs = 0 } = link;
    const bound = boundTo === undefined ? {} : { boundTo };
    const { token, expiresAt } = await links.create({ account, to, purpose: kind, waitsMs, ...bound });
    const url = `${baseUrl}/oauth2/${paths[kind]}?token=${token}`;
    const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
    const waits = waitsMs > 0 && { waitsSeconds: waitsMs / 1000 };
    const values = { ...readerValues(account), ...link.values, ...waits, url, expiresSeconds };
    return mail.queue({ to, accountId: account.id, template: kind, language, values });
  }

  const formerOf = (account: Account): string | undefined => addressChangeOf(account, clock())?.from;

  /**
   * Whether a further one is sent. The owner in a known browser has a budget apart, so that no stranger's requests keep their
   * mails from being sent. A link to a new password works in any browser: while one is valid, a stranger's further one would
   * only fill the mailbox. A sign-in link works only in the browser that asked for it: it counts for that one's network.
   */
  async function isWithinBudget(
    kind: RequestedKind,
    account: Account,
    to: string,
    from: Asked,
  ): Promise<boolean> {
    const known = signIns.knownBrowser(account, from.browser);
    if (known !== undefined) return limits.isWithin('mail_owner', `${kind} of ${account.id} in ${known}`);
    const what = `${kind} to ${addressKey(to)}`;
    if (kind === 'magic_link') return limits.isWithin('mail_requester_ip', keyFor(what, from.ipAddress));
    if (await links.hasLasting(account, to, kind, LASTING_MS)) return false;
    return limits.isWithin('mail_address', what);
  }

  async function answer(request: Asked, kind: RequestedKind): Promise<void> {
    const { email, ipAddress, userAgent, language, interaction } = request;
    const former = kind === 'password_reset' ? await accounts.findByFormerAddress(email) : undefined;
    const found = former ?? (await accounts.findByLogin(email));
    const account = found && (await accounts.findUsable(found.id));
    // An unverified address may belong to another person (R129). Whoever has one of several gets it there: the primary
    // mailbox may be the one that is lost.
    const to =
      account &&
      (former ? formerOf(account) : (ownAddress(account, email) ?? ownAddress(account, account.email ?? '')));
    if (account === undefined || to === undefined) return;
    const isReset = kind === 'password_reset';
    const { allow_password_reset: canReset, allow_magic_link: canUseLinks } = settings();
    if (arePasswordsOff(settings()) || !(isReset ? canReset : canUseLinks)) return;
    const values = { ipAddress, device: deviceName(userAgent), at: clock() };
    const note = (event: 'password.reset_requested' | 'password.reset_withheld' | 'magic_link.requested') =>
      events.record({
        event,
        // Anyone who knows the address may request a link, and that request has already ended.
        actor: { kind: 'anonymous' },
        target: { kind: 'user', id: account.id },
        details: { ip_address: ipAddress, device: values.device },
      });
    if (!(await isWithinBudget(kind, account, to, request))) {
      // Who helps this person sees why nothing came.
      if (isReset) await note('password.reset_withheld');
      return;
    }
    await note(isReset ? 'password.reset_requested' : 'magic_link.requested');
    const chosen = account.profile.locale ?? language;
    const waitsMs = former && formerFactorOf(account, clock()) === undefined ? FORMER_WAIT_MS : 0;
    await mailLink({ account, to, kind, values, language: chosen, boundTo: interaction, waitsMs });
    if (waitsMs > 0 && account.email !== undefined)
      await mail.queue({
        to: account.email,
        accountId: account.id,
        template: 'password_reset_waits',
        language: chosen,
        values: { ...readerValues(account), ...values },
      });
  }

  for (const kind of ['password_reset', 'magic_link'] as const)
    mail.requests.on(kind, (request) => answer(request, kind));

  return {
    requestLink: ({ interaction, ...request }, requester) =>
      mail.requests.request({ ...request, ...requester, ...(interaction !== undefined && { interaction }) }),

    async knownIn(login, browser) {
      const account = await accounts.findByLogin(login);
      return account && signIns.knownBrowser(account, browser);
    },

    async sendPasswordReset(account) {
      const { email: to, isEmailVerified, isActive } = account;
      if (arePasswordsOff(settings())) throw new AppError('password.off');
      if (to === undefined || !isEmailVerified) throw cannotReset('email', 'has no verified e-mail address');
      if (!isActive) throw cannotReset('is_active', 'is deactivated');
      const language = account.profile.locale;
      return mailLink({ account, to, kind: 'password_reset', values: {}, language });
    },

    async sendEmailVerification(account) {
      const { email: to, isEmailVerified } = account;
      if (to === undefined) throw cannotVerify('email', 'has no e-mail address');
      if (isEmailVerified) throw cannotVerify('is_email_verified', 'has a verified address already');
      if (!isUsable(account)) throw cannotVerify('is_active', 'is deactivated or locked');
      // Whoever has that mailbox would use the link before the owner has decided between the two.
      if (await isStopped(account)) throw new AppError('account.email_frozen');
      const language = account.profile.locale;
      return mailLink({ account, to, kind: 'email_verification', values: {}, language });
    },
  };
}

const cannot = (message: string, field: string, problem: string) =>
  new AppError('request.invalid', { message, fields: { [field]: `The user ${ours(problem)}.` } });

const cannotReset = (field: string, problem: string) =>
  cannot(`No link to a new password can be sent: this user ${ours(problem)}.`, field, problem);
const cannotVerify = (field: string, problem: string) =>
  cannot(`No link to verify an address can be sent: this user ${ours(problem)}.`, field, problem);
