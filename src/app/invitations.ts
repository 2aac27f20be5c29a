// Owns putting together invitations (new-accounts.ts has the other ways to an account).
import type Koa from 'koa';
import type { SignupAnswers } from '../../interactions/signup-form.ts';
import type { Account } from '../accounts/account.ts';
import { AppError } from '../errors.ts';
import { createInvitations } from '../registration/invitations.ts';
import * as model from '../store/collections.ts';
import * as newAccounts from '../store/signups.ts';
import type { Signup, SignupDeps } from './signup.ts';

type Deps = Pick<SignupDeps, 'store' | 'config' | 'clock' | 'current' | 'clients' | 'factors' | 'audit'> & {
  readonly signup: Pick<Signup, 'questions' | 'prepare' | 'create'>;
};

export function createInvitationParts(deps: Deps) {
  const { store, config, clock, current, clients, factors, audit, signup } = deps;
  const { baseUrl } = config;
  const invitations = createInvitations({
    collection: store.collection(newAccounts.invitations),
    accounts: store.collection(model.accounts),
    clock,
  });

  return {
    removeAllOf: invitations.removeAllOf,

    forAdministrators: {
      query: invitations.query,
      remove: invitations.remove,
      async invite(input: {
        email: string;
        expiresInSeconds?: number | undefined;
        clientId?: string | undefined;
        isMailed: boolean;
      }) {
        const { email, clientId, isMailed } = input;
        const expiresInSeconds = input.expiresInSeconds ?? current().invitation_link_seconds;
        if (clientId !== undefined && (await clients.find(clientId)) === undefined) {
          throw new AppError('request.invalid', { fields: { client_id: 'Application not found.' } });
        }
        const { invitation, mailedToken, handedToken } = await invitations.create({
          email,
          expiresInSeconds,
          clientId,
        });
        const urlOf = (token: string): string => `${baseUrl}/oauth2/signup?token=${token}`;
        const values = { url: urlOf(mailedToken), expiresSeconds: expiresInSeconds };
        if (isMailed) await factors.mail.queue({ to: invitation.email, template: 'invitation', values });
        return { invitation, url: urlOf(handedToken) };
      },
    },

    /** For interactions/. */
    invitation: {
      questions: signup.questions,
      async find(token: string) {
        const found = await invitations.find(token);
        return found && { email: found.invitation.email, clientId: found.invitation.clientId };
      },
      async accept(_ctx: Koa.Context, token: string, answers: SignupAnswers): Promise<Account | undefined> {
        const found = await invitations.find(token);
        if (found === undefined) return undefined;
        const { id, email, clientId } = found.invitation;
        // What was typed is tried first: a password that will not do must not cost the invitation.
        const record = await signup.prepare({ ...answers, values: { ...answers.values, email } });
        if (!(await invitations.claim(id))) return undefined;
        try {
          const proven = { ...record, isEmailVerified: found.isMailed };
          const account = await signup.create(proven, { via: 'invitation', clientId });
          await invitations.settle(id, account.id);
          // Handed over: whose mailbox it is has yet to be shown.
          if (!found.isMailed) await factors.mailedLinks.sendEmailVerification(account);
          await audit.write({
            event: 'invitation.used',
            actor: { kind: 'user', id: account.id },
            target: { kind: 'invitation', id },
            clientId,
            details: { user_id: account.id },
          });
          return account;
        } catch (error) {
          if (error instanceof AppError && error.fields !== undefined) await invitations.release(id);
          throw error;
        }
      },
      /** After a password alone: nothing where a second factor has to be set up first. */
      isComplete: (account: Account): boolean =>
        factors.signIn.stepOf(account, factors.signIn.mfaMode()) === 'none',
    },
  };
}
