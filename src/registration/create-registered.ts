import { type Account, type NewAccount, problemOfChosenUsername } from '../accounts/index.ts';
import { invalid } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { RegistrationDoors } from './doors.ts';
import { type SignupAnswers, signupFields, signupQuestions } from './questions.ts';

/** Creates an account from a form, both at sign-up and with an invitation. */
export interface CreateRegistered {
  /** Validates and hashes; stores nothing. @throws AppError request.invalid, server.busy */
  prepare(answers: SignupAnswers): Promise<AccountRecord>;
  /** @throws AppError account.username_taken, account.email_taken */
  create(record: AccountRecord, origin: RegistrationOrigin): Promise<Account>;
}

interface RegistrationOrigin {
  readonly via: 'signup' | 'invitation';
  readonly clientId: string | undefined;
}

/** By the fields of the form, so that it cannot set any other. */
function toNewAccount({ values, password }: SignupAnswers): NewAccount {
  const given = Object.fromEntries(signupFields.map((name) => [name, values[name]] as const));
  return {
    ...given,
    username: given.username ?? given.email ?? '',
    ...(password !== undefined && { password }),
  };
}

export function createRegistered({ accounts, events, settings, clock }: RegistrationDoors): CreateRegistered {
  return {
    async prepare(answers) {
      const wanted = toNewAccount(answers);
      const problem = problemOfChosenUsername(wanted.username, [settings().product_name]);
      if (problem !== undefined) throw invalid({ username: problem });
      const record = await accounts.prepare(wanted);
      // A new account has no sessions to end.
      delete record.authenticatedNotBefore;
      const { terms } = signupQuestions(settings());
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
    },

    async create(record, { via, clientId }) {
      const now = clock();
      const times = { createdAt: now, updatedAt: now, lastLoginAt: now };
      const account = await accounts.createPrepared({ ...record, ...times });
      const { termsUrl, privacyUrl } = record.acceptedTerms ?? {};
      await events.record({
        event: 'signup.completed',
        owner: account.id,
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
    },
  };
}
