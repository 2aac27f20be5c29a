// Owns putting together one-time links to accounts that administrators made (create-app.ts builds the rest).
import type Koa from 'koa';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { minPasswordLength } from '../accounts/passwords/password-rules.ts';
import type { Audit } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { SettingValues } from '../settings/schema.ts';
import type { Factors } from './factors.ts';

interface Parts {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly accounts: Pick<Accounts, 'update'>;
  readonly factors: Pick<Factors, 'mail' | 'links' | 'signIn'>;
  readonly audit: Pick<Audit, 'write'>;
  readonly isPasswordAsked: () => boolean;
}

const PURPOSE = 'invitation';

export function createEnrolment(parts: Parts) {
  const { baseUrl, clock, current, accounts, factors, audit, isPasswordAsked } = parts;
  const { links } = factors;
  const { findUsable, checkPassword } = factors.signIn;

  return {
    /** At an administrator's wish. @throws AppError request.invalid where the link could not be sent or used */
    async sendEnrolmentLink(account: Account): Promise<void> {
      const { email: to, isActive } = account;
      if (to === undefined) throw cannotSend('email', 'has no e-mail address');
      if (!isActive) throw cannotSend('is_active', 'is deactivated');
      const { token, expiresAt } = await links.create({ account, purpose: PURPOSE });
      const url = `${baseUrl}/oauth2/enrol?token=${token}`;
      const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
      const values = { url, expiresSeconds, username: account.username };
      await factors.mail.queue({ to, template: 'enrolment', values, language: account.profile.locale });
    },

    /** For interactions/. */
    enrolment: {
      isPasswordAsked,
      minLength: () => minPasswordLength(current()),
      async find(token: string) {
        const link = await links.find(token, PURPOSE);
        const account = link && (await findUsable(link.accountId));
        return account && { username: account.username, email: link.email };
      },
      async complete(
        _ctx: Koa.Context,
        token: string,
        password: string | undefined,
      ): Promise<Account | undefined> {
        const known = await links.find(token, PURPOSE);
        const account = known && (await findUsable(known.accountId));
        if (account === undefined) return undefined;
        // A password that will not do must not cost the link.
        if (password !== undefined) await checkPassword(account.id, password);
        const link = await links.consume(token, PURPOSE);
        if (link === undefined) return undefined;
        // Every session ends where there was one, and other links are void: the state they were made in is no more.
        const changes = { isEmailVerified: true, ...(password !== undefined && { password }) };
        const changed = await accounts.update(account.id, changes, { version: account.version });
        await audit.write({
          event: 'enrolment.completed',
          actor: { kind: 'user', id: account.id },
          target: { kind: 'user', id: account.id },
        });
        return changed;
      },
    },
  };
}

function cannotSend(field: string, problem: string): AppError {
  const message = `No link can be sent: this user ${problem}.`;
  return new AppError('request.invalid', { message, fields: { [field]: `The user ${problem}.` } });
}
