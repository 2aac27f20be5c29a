import { type Account, addressKey, isDomainWelcome, parseEmail } from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import type { MailValues, Requester } from '../mail/index.ts';
import type { MailTemplate } from '../model/mails.ts';
import { keyFor } from '../rate-limits/index.ts';
import { arePasswordsOff } from '../settings/index.ts';
import type { ClientRecord, MailRequestRecord } from '../store/collections.ts';
import type { CreateRegistered } from './create-registered.ts';
import type { RegistrationDoors } from './doors.ts';
import { type SignupAnswers, type SignupQuestions, signupQuestions } from './questions.ts';
import { coolingDownMs, type Signups } from './signups.ts';

interface SignupOf {
  /** The id of the interaction. */
  readonly interaction: string;
  readonly clientId: string;
}

export interface SignUp {
  questions(): SignupQuestions;
  /** By the application's own setting, otherwise the general one. */
  isOpenFor(clientId: string): Promise<boolean>;
  /** The same for a client record that is already loaded. */
  isOpen(client: ClientRecord): boolean;
  /**
   * @returns the account, or undefined when its address must be verified first
   * @throws AppError with `fields`, server.busy, mail.off where no code could verify its address
   */
  begin(signup: SignupOf & { answers: SignupAnswers }, requester: Requester): Promise<Account | undefined>;
  pending(interaction: string): Promise<PendingSignupView | undefined>;
  /** @throws AppError request.rate_limited, account.username_taken, account.email_taken */
  confirm(signup: SignupOf & { code: string; ipAddress: string }): Promise<Account | 'wrong' | 'expired'>;
  /** Creates the account without its address, where that need not be verified. */
  skip(signup: SignupOf): Promise<Account | undefined>;
  /** Sends another code, unless it is too soon. @throws AppError request.rate_limited */
  resend(interaction: string, requester: Requester): Promise<void>;
}

interface PendingSignupView {
  readonly email: string;
  readonly resendInSeconds: number;
  readonly canSkip: boolean;
}

export function createSignUp(
  doors: RegistrationDoors,
  signups: Signups,
  registered: CreateRegistered,
): SignUp {
  const { clients, mail, limits, settings, clock } = doors;

  const isOpen = ({ isActive, allowSelfSignup }: ClientRecord): boolean =>
    isActive && (allowSelfSignup ?? settings().allow_self_signup);

  function canSkip(username: string): boolean {
    const isEmailNeeded =
      settings().signup_require_verified_email || signupQuestions(settings()).fields.email === 'required';
    return !isEmailNeeded && !username.includes('@');
  }

  /**
   * Nobody but who asks can use the code, so it takes nothing of what the owner of the mailbox may ask for: it is counted for
   * who asks, and said. @throws AppError request.rate_limited
   */
  const chargeCode = (email: string, { ipAddress }: Requester) =>
    limits.consume('mail_requester_ip', keyFor(`signup to ${addressKey(email)}`, ipAddress));

  /**
   * Whether the address is known is checked when the mail is created, not here, so the time reveals nothing.
   */
  const requestCode = (interaction: string, email: string, requester: Requester): Promise<void> =>
    mail.requests.request({ kind: 'signup', email, interaction, ...requester });

  mail.requests.on('signup', createAnswer(doors, signups));

  /** Where no code can verify an address, none is asked for that need not be. */
  function questions(): SignupQuestions {
    const asked = signupQuestions(settings());
    if (mail.canSend() || asked.fields.email === 'required') return asked;
    return { ...asked, fields: { ...asked.fields, email: 'hidden' } };
  }

  return {
    questions,
    isOpen,
    async isOpenFor(clientId) {
      const client = await clients.find(clientId);
      return client !== undefined && isOpen(client.value);
    },

    async begin({ interaction, clientId, answers }, requester) {
      if (!mail.canSend() && questions().fields.email === 'required') throw new AppError('mail.off');
      const address = parseEmail(answers.values.email ?? '')?.address;
      if (address !== undefined && !isDomainWelcome(address, settings())) {
        throw invalid({ email: 'invalid.email_domain' });
      }
      const record = await registered.prepare(answers);
      if (await signups.isNameTaken(record)) {
        throw new AppError('account.username_taken', {
          fields: { username: 'This username is already taken.' },
        });
      }
      if (record.email === undefined) return registered.create(record, { via: 'signup', clientId });
      await chargeCode(record.email, requester);
      await signups.begin(interaction, record);
      await requestCode(interaction, record.email, requester);
      return undefined;
    },

    async pending(interaction) {
      const pending = await signups.find(interaction);
      if (pending === undefined) return undefined;
      const resendInSeconds = Math.ceil(coolingDownMs(pending, clock()) / 1000);
      return { email: pending.email, resendInSeconds, canSkip: canSkip(pending.username) };
    },

    async confirm({ interaction, clientId, code, ipAddress }) {
      const pending = await signups.find(interaction);
      if (pending === undefined) return 'expired';
      const key = addressKey(pending.email);
      const own = await limits.consume('signup_address', keyFor(key, ipAddress));
      // A code that was never issued is no guess at one: it counts beside the address's own count, as visibly.
      const ofAll = pending.isIssued ? key : `never issued to ${key}`;
      const all = await limits.consume('signup_codes', ofAll).catch(spentLimit);
      // Once strangers spent it, one guess for each mail: whoever reads the mail needs no second one.
      const verdict = await signups.verify(interaction, code, { isFirstOnly: all instanceof AppError });
      if (verdict.outcome === 'tried' && all instanceof AppError) throw all;
      if (verdict.outcome !== 'wrong') {
        own.giveBack();
        if (!(all instanceof AppError)) all.giveBack();
      }
      if (verdict.outcome !== 'ok') return verdict.outcome === 'wrong' ? 'wrong' : 'expired';
      return registered.create({ ...verdict.account, isEmailVerified: true }, { via: 'signup', clientId });
    },

    async skip({ interaction, clientId }) {
      const pending = await signups.find(interaction);
      if (pending === undefined || !canSkip(pending.username)) return undefined;
      const record = await signups.takeWithoutEmail(interaction);
      return record && registered.create(record, { via: 'signup', clientId });
    },

    async resend(interaction, requester) {
      const pending = await signups.find(interaction);
      if (pending === undefined || !mail.canSend() || coolingDownMs(pending, clock()) > 0) return;
      const charge = await chargeCode(pending.email, requester);
      if (await signups.askAgain(interaction)) await requestCode(interaction, pending.email, requester);
      else charge.giveBack();
    },
  };
}

function spentLimit(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'request.rate_limited') return error;
  throw error;
}

/** The mail to a new user. It omits the username, which an attacker could choose as a message. */
function createAnswer({ mail, settings, clock, baseUrl }: RegistrationDoors, signups: Signups) {
  return async ({ interaction = '', email, ipAddress, language }: MailRequestRecord): Promise<void> => {
    const issued = await signups.issue(interaction);
    if (issued === undefined || issued.email !== email) return;
    const queue = async (template: MailTemplate, values: MailValues): Promise<void> => {
      await mail.queue({ to: email, template, values: { ipAddress, at: clock(), ...values }, language });
    };
    const { isKnown, code, expiresAt } = issued;
    if (!isKnown) {
      return queue('signup_code', { code, expiresSeconds: Math.round((expiresAt - clock()) / 1000) });
    }
    const canReset = !arePasswordsOff(settings()) && settings().allow_password_reset;
    return queue('signup_known', canReset ? { url: `${baseUrl}/oauth2/forgot-password` } : {});
  };
}
