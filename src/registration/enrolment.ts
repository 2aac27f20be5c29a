import { type Account, checkNewPassword } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { type Queued, readerValues } from '../mail/index.ts';
import { ours } from '../phrase.ts';
import type { RegistrationDoors } from './doors.ts';
import { inviterOf } from './inviter.ts';

/**
 * One-time links to accounts that an administrator created: the owner sets the first password or creates a passkey.
 */
export interface Enrolment {
  /** As an administrator. @throws AppError request.invalid where the link could not be sent or used, account.email_frozen */
  sendLink(account: Account): Promise<Queued>;
  find(token: string): Promise<{ username: string; email: string } | undefined>;
  /**
   * Uses up the link and, where it was mailed, marks the address that it was sent to as verified.
   * @param password undefined where users have no passwords
   * @returns undefined when the link is not valid any more
   * @throws AppError with `fields`: the link stays valid
   */
  complete(token: string, password: string | undefined): Promise<Account | undefined>;
}

const PURPOSE = 'invitation';

export function createEnrolment(doors: RegistrationDoors): Enrolment {
  const { accounts, mail, recovery, events, settings, clock, baseUrl } = doors;
  const { links, emailChanges } = recovery;
  return {
    async sendLink(account) {
      const { email: to, isActive } = account;
      if (to === undefined) throw cannotSend('email', 'has no e-mail address');
      if (!isActive) throw cannotSend('is_active', 'is deactivated');
      // It would reach whoever the change was stopped against.
      if (await emailChanges.isStopped(account)) throw new AppError('account.email_frozen');
      const { token, expiresAt } = await links.create({
        account,
        purpose: PURPOSE,
        isHanded: !mail.canSend(),
      });
      const url = `${baseUrl}/oauth2/enrol?token=${token}`;
      const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
      const inviter = await inviterOf(doors);
      const values = {
        ...readerValues(account),
        url,
        expiresSeconds,
        ...(inviter !== undefined && { inviter }),
      };
      const language = account.profile.locale ?? events.origins.current()?.language;
      return mail.queue({ to, accountId: account.id, template: 'enrolment', values, language });
    },

    async find(token) {
      const link = await links.find(token, PURPOSE);
      const account = link && (await accounts.findUsable(link.accountId));
      return account && { username: account.username, email: link.email };
    },

    async complete(token, password) {
      const known = await links.find(token, PURPOSE);
      const account = known && (await accounts.findUsable(known.accountId));
      if (account === undefined) return undefined;
      // An unacceptable password must not use up the link.
      if (password !== undefined) checkNewPassword(password, account, { settings: settings(), baseUrl });
      const link = await links.consume(token, PURPOSE);
      if (link === undefined) return undefined;
      // Ends existing sessions, and invalidates other links, because they carry the earlier security state.
      const isVerified = link.isHanded !== true && { is_email_verified: true };
      const changes = { ...isVerified, ...(password !== undefined && { password }) };
      const changed = await accounts.changeOwnAccount(account.id, changes, { version: account.version });
      await events.record({ event: 'enrolment.completed', owner: account.id });
      return changed;
    },
  };
}

function cannotSend(field: string, problem: string): AppError {
  const message = `No link can be sent: this user ${ours(problem)}.`;
  return new AppError('request.invalid', { message, fields: { [field]: `The user ${ours(problem)}.` } });
}
