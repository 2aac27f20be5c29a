// Owns putting together signing up (new-accounts.ts has the other ways to an account).
import type Koa from 'koa';
import type { SignupAnswers, SignupQuestions } from '../../interactions/signup-form.ts';
import type { Account } from '../accounts/account.ts';
import type { Accounts, NewAccount } from '../accounts/accounts.ts';
import { addressKey, parseEmail } from '../accounts/email.ts';
import { minPasswordLength } from '../accounts/passwords/password-rules.ts';
import type { Audit } from '../audit/index.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import { AppError } from '../errors.ts';
import type { MailTemplate, MailValues } from '../mail/index.ts';
import type { RateLimits } from '../rate-limits/limits.ts';
import { isDomainWelcome } from '../registration/email-domains.ts';
import { createSignups, SIGNUP_CODE_COOLDOWN_SECONDS } from '../registration/signups.ts';
import type { SettingValues } from '../settings/schema.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as newAccounts from '../store/signups.ts';
import type { Factors } from './factors.ts';

export interface SignupDeps {
  readonly store: Store;
  readonly config: Pick<Config, 'baseUrl' | 'secretKeys'>;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly accounts: Pick<Accounts, 'prepare' | 'createPrepared'>;
  readonly clients: Pick<Clients, 'find'>;
  readonly factors: Pick<Factors, 'mail' | 'mailedLinks' | 'signIn'>;
  readonly audit: Pick<Audit, 'write'>;
  readonly limits: Pick<RateLimits, 'consume' | 'isWithin'>;
  /** Whether people have passwords here; not where only passkeys sign in. */
  readonly isPasswordAsked: () => boolean;
}

export type Signup = ReturnType<typeof createSignup>;

type Via = 'signup' | 'invitation';

export function createSignup(parts: SignupDeps) {
  const { store, config, clock, current, accounts, clients, factors, audit, limits, isPasswordAsked } = parts;
  const { baseUrl } = config;
  const signups = createSignups({
    collection: store.ephemeral(newAccounts.signups),
    accounts: store.collection(model.accounts),
    secretKeys: config.secretKeys,
    clock,
    settings: current,
  });

  const isOpen = ({ isActive, allowSelfSignup }: model.ClientRecord): boolean =>
    isActive && (allowSelfSignup ?? current().allow_self_signup);

  function questions(): SignupQuestions {
    const values = current();
    const isEmailNeeded = values.signup_require_verified_email || values.signup_username === 'hidden';
    const { terms_url: termsUrl, privacy_url: privacyUrl } = values;
    return {
      fields: {
        username: values.signup_username,
        email: isEmailNeeded ? 'required' : values.signup_email,
        given_name: values.signup_given_name,
        family_name: values.signup_family_name,
        nickname: values.signup_nickname,
        phone_number: values.signup_phone_number,
      },
      isPasswordAsked: isPasswordAsked(),
      minLength: minPasswordLength(values),
      ...((termsUrl !== '' || privacyUrl !== '') && { terms: { termsUrl, privacyUrl } }),
    };
  }

  /** Field by field: an account gets nothing from a form that is not named here (checklist R124). */
  function toNewAccount({ values, password }: SignupAnswers): NewAccount {
    const { username, email, given_name, family_name, nickname, phone_number: phoneNumber } = values;
    return {
      username: username ?? email ?? '',
      email,
      phoneNumber,
      profile: { given_name, family_name, nickname },
      ...(password !== undefined && { password }),
    };
  }

  async function prepare(answers: SignupAnswers): Promise<model.AccountRecord> {
    const record = await accounts.prepare(toNewAccount(answers));
    // Of an account that is new there is nothing to be ended.
    delete record.authenticatedNotBefore;
    const { terms } = questions();
    if (terms === undefined) return record;
    const { termsUrl, privacyUrl } = terms;
    return {
      ...record,
      acceptedTerms: {
        at: clock(),
        ...(termsUrl !== '' && { termsUrl }),
        ...(privacyUrl !== '' && { privacyUrl }),
      },
    };
  }

  async function create(
    record: model.AccountRecord,
    { via, clientId }: { via: Via; clientId: string | undefined },
  ): Promise<Account> {
    const now = clock();
    const account = await accounts.createPrepared({
      ...record,
      createdAt: now,
      updatedAt: now,
      lastLoginAt: now,
    });
    const { termsUrl, privacyUrl } = record.acceptedTerms ?? {};
    await audit.write({
      event: 'signup.completed',
      actor: { kind: 'user', id: account.id },
      target: { kind: 'user', id: account.id },
      clientId,
      details: {
        via,
        username: account.username,
        is_email_verified: account.isEmailVerified,
        ...(termsUrl !== undefined && { terms_url: termsUrl }),
        ...(privacyUrl !== undefined && { privacy_url: privacyUrl }),
      },
    });
    return account;
  }

  /** Whether the address is known is found out where the mail is made, not here. */
  async function askForCode(ctx: Koa.Context, interaction: string, email: string): Promise<void> {
    await factors.mail.requests.request({
      kind: 'signup',
      email,
      interaction,
      ipAddress: ctx.ip,
      userAgent: ctx.get('user-agent').slice(0, 512),
      language: ctx.get('accept-language').slice(0, 200),
    });
  }

  const queue = (to: string, template: MailTemplate, values: MailValues, language?: string) =>
    factors.mail.queue({ to, template, values, language });

  const canSkip = (username: string): boolean =>
    !current().signup_require_verified_email &&
    questions().fields.email !== 'required' &&
    !username.includes('@');

  /** A name that a stranger chose is not in these mails. */
  async function answer({
    interaction = '',
    email,
    ipAddress,
    language,
  }: model.MailRequestRecord): Promise<void> {
    if (!(await limits.isWithin('mail_address', addressKey(email)))) return;
    const issued = await signups.issue(interaction);
    if (issued === undefined || issued.email !== email) return;
    const { isKnown, code, expiresAt } = issued;
    if (isKnown) {
      const canReset = isPasswordAsked() && current().allow_password_reset;
      const url = canReset ? { url: `${baseUrl}/oauth2/forgot-password` } : {};
      return queue(email, 'signup_known', { ipAddress, at: clock(), ...url }, language);
    }
    const expiresSeconds = Math.round((expiresAt - clock()) / 1000);
    return queue(email, 'signup_code', { ipAddress, at: clock(), code, expiresSeconds }, language);
  }
  factors.mail.requests.on('signup', answer);

  return {
    questions,
    prepare,
    create,

    /** For interactions/. */
    signup: {
      questions,
      isOpen,
      async isOpenFor(clientId: string): Promise<boolean> {
        const client = await clients.find(clientId);
        return client !== undefined && isOpen(client.value);
      },
      async begin(
        ctx: Koa.Context,
        { interaction, clientId, answers }: { interaction: string; clientId: string; answers: SignupAnswers },
      ): Promise<Account | undefined> {
        const address = parseEmail(answers.values.email ?? '')?.address;
        const values = current();
        const lists = {
          allowed: values.signup_allowed_email_domains,
          blocked: values.signup_blocked_email_domains,
        };
        if (address !== undefined && !isDomainWelcome(address, lists)) {
          throw new AppError('request.invalid', { fields: { email: 'invalid.email_domain' } });
        }
        const record = await prepare(answers);
        if (await signups.isNameTaken(record)) {
          throw new AppError('account.username_taken', { fields: { username: 'Is taken by another user.' } });
        }
        if (record.email === undefined) return create(record, { via: 'signup', clientId });
        await signups.begin(interaction, record);
        await askForCode(ctx, interaction, record.email);
        return undefined;
      },
      async pending(interaction: string) {
        const pending = await signups.find(interaction);
        if (pending === undefined) return undefined;
        const nextAt = pending.askedAt + SIGNUP_CODE_COOLDOWN_SECONDS * 1000;
        const resendInSeconds = Math.max(0, Math.ceil((nextAt - clock()) / 1000));
        return { email: pending.email, resendInSeconds, canSkip: canSkip(pending.username) };
      },
      async confirm(
        _ctx: Koa.Context,
        { interaction, clientId, code }: { interaction: string; clientId: string; code: string },
      ): Promise<Account | 'wrong' | 'expired'> {
        const pending = await signups.find(interaction);
        if (pending === undefined) return 'expired';
        const charge = await limits.consume('signup_address', addressKey(pending.email));
        const verdict = await signups.verify(interaction, code);
        if (verdict.outcome !== 'wrong') charge.giveBack();
        if (verdict.outcome !== 'ok') return verdict.outcome;
        return create({ ...verdict.account, isEmailVerified: true }, { via: 'signup', clientId });
      },
      async skip(
        _ctx: Koa.Context,
        { interaction, clientId }: { interaction: string; clientId: string },
      ): Promise<Account | undefined> {
        const pending = await signups.find(interaction);
        if (pending === undefined || !canSkip(pending.username)) return undefined;
        const record = await signups.takeWithoutEmail(interaction);
        return record && create(record, { via: 'signup', clientId });
      },
      async resend(ctx: Koa.Context, interaction: string): Promise<void> {
        const pending = await signups.find(interaction);
        if (pending === undefined || !(await signups.askAgain(interaction))) return;
        await askForCode(ctx, interaction, pending.email);
      },
    },
  };
}
