// Mail notices to the owner of an account. It subscribes to events; no domain calls it. Not here: mail/ renders and
// sends mails, events/ defines events. A notice goes only to the verified address, and one that cannot be queued
// neither fails nor delays the action.
import { type Account, type Accounts, activeAdminFilters, hasSecondFactor } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import { accountValues, type Mail, type MailValues, readerValues, requestValues } from '../mail/index.ts';
import { eventNames, eventRows } from '../model/events/events.ts';
import type { MailTemplate } from '../model/mails.ts';
import type { RateLimits } from '../rate-limits/index.ts';

interface Deps {
  readonly events: Pick<Events, 'on' | 'origins'>;
  readonly accounts: Pick<Accounts, 'find' | 'query'>;
  readonly mail: Pick<Mail, 'queue'>;
  readonly limits: Pick<RateLimits, 'isWithin'>;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly log: Pick<Logger, 'warn'>;
}

/** More administrators than read each other's mails. */
const MAX_TOLD = 20;

type Recipient = Omit<Account, 'version'>;

export function subscribeNotices({ events, accounts, mail, limits, clock, baseUrl, log }: Deps): void {
  const { origins } = events;

  async function notify(
    account: Recipient,
    template: MailTemplate,
    values: MailValues = {},
    language: string | undefined = account.profile.locale,
  ): Promise<void> {
    if (account.email === undefined || !account.isEmailVerified) return;
    await mail.queue({
      to: account.email,
      accountId: account.id,
      template,
      values: { ...readerValues(account), ...values },
      language,
    });
  }

  const logLost = async (
    template: MailTemplate,
    accountId: string,
    notice: Promise<unknown>,
  ): Promise<void> => {
    await notice.catch((err: unknown) =>
      log.warn({ event: 'notice_lost', template, account_id: accountId, err }, 'notice not queued'),
    );
  };

  /** What a notice says of the account beside what all do. @returns undefined: there is nothing to tell */
  const further: { readonly [Template in MailTemplate]?: (account: Recipient) => MailValues | undefined } = {
    recovery_code_used: ({ recoveryCodes = [] }) => ({ codesLeft: recoveryCodes.length }),
    // No token: who undoes it signs in, so that a mailbox alone is not enough.
    deletion_requested: ({ deletion }) => deletion && { url: `${baseUrl}/account`, dueAt: deletion.dueAt },
  };

  /** Includes what is known about the current request, which waits for the notice; in its language where the owner chose none. */
  function notifyOfRequest(template: MailTemplate, accountId: string, found?: Recipient): void {
    const { values, language } = requestValues(origins.current(), clock());
    const queue = async (): Promise<void> => {
      const account = found ?? (await accounts.find(accountId));
      const { [template]: moreOf = () => ({}) } = further;
      const more = account && moreOf(account);
      if (account !== undefined && more !== undefined)
        await notify(account, template, { ...values, ...more }, account.profile.locale ?? language);
    };
    origins.defer(logLost(template, accountId, queue()));
  }

  for (const name of eventNames) {
    const { notice, noticeOfReplacement = notice } = eventRows[name];
    if (notice === undefined || noticeOfReplacement === undefined) continue;
    events.on(name, ({ target: { kind, id } = {}, details }) => {
      if (kind === 'user' && id !== undefined)
        notifyOfRequest(details?.is_replaced === true ? noticeOfReplacement : notice, id);
    });
  }
  events.on('newBrowserUsed', ({ account }) => notifyOfRequest('new_sign_in', account.id, account));

  events.on('accountLocked', ({ accountId, lockedUntil, isNoticeDue }) => {
    if (!isNoticeDue) return;
    const { values } = requestValues(origins.current(), clock());
    const queue = async (): Promise<void> => {
      const account = await accounts.find(accountId);
      const lockedSeconds = Math.round((lockedUntil - clock()) / 1000);
      if (account !== undefined) await notify(account, 'account_locked', { ...values, lockedSeconds });
    };
    // After the attempt: the one that causes a lock must take no longer than any other.
    setImmediate(() => void logLost('account_locked', accountId, queue()));
  });

  events.on('user.compromise_reported', ({ target, details }) => {
    const { values } = requestValues(origins.current(), clock());
    const tellAdministrators = async (): Promise<void> => {
      // Each report is one mail to each of them; every one is in the audit log.
      if (!(await limits.isWithin('mail_acts', `reports of ${target?.id}`))) return;
      const owner = target?.id === undefined ? undefined : await accounts.find(target.id);
      const { items } = await accounts.query({
        filters: activeAdminFilters,
        sort: 'id',
        order: 'asc',
        limit: MAX_TOLD,
      });
      for (const administrator of items)
        await notify(administrator, 'compromise_reported', {
          ...values,
          ...(Array.isArray(details?.removed) && { removedCount: details.removed.length }),
          ...(owner === undefined ? { name: '', username: '' } : accountValues(owner)),
          url: `${baseUrl}/admin/users/${target?.id}`,
        });
    };
    origins.defer(logLost('compromise_reported', target?.id ?? '', tellAdministrators()));
  });

  events.on('ownerDeletedAccount', ({ username, email, isEmailVerified, language }) => {
    if (email === undefined || !isEmailVerified) return;
    const queued = mail.queue({ to: email, template: 'account_deleted', values: { username }, language });
    origins.defer(logLost('account_deleted', '', queued));
  });

  events.on('passkeyRemovedByAdmin', async ({ accountId }) => {
    const account = await accounts.find(accountId);
    if (account !== undefined)
      await logLost('passkey_removed', accountId, notify(account, 'passkey_removed'));
  });

  /** To the address before the change. */
  events.on('accountChangedByAdmin', async ({ before, after, isPasswordChanged, isSecondFactorReset }) => {
    const tell = (template: MailTemplate) => logLost(template, before.id, notify(before, template));
    if (before.emailKey !== after.emailKey) await tell('email_changed');
    if (isSecondFactorReset && hasSecondFactor(before)) await tell('second_factor_reset');
    if (isPasswordChanged) await tell('password_changed');
  });
}
