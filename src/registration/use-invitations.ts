import type { Account } from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import type { MailValues, Queued } from '../mail/index.ts';
import type { CreateRegistered } from './create-registered.ts';
import type { RegistrationDoors } from './doors.ts';
import type { Invitation, Invitations, WithTokens } from './invitations.ts';
import { inviterOf } from './inviter.ts';
import type { SignupAnswers } from './questions.ts';

export interface Invited {
  readonly invitation: Invitation;
  readonly url: string;
  readonly mail: Queued | undefined;
}

export interface InvitationUseCases {
  /**
   * By an administrator.
   * @returns the link to pass on, in this response only, and what became of the mail, where one was asked for
   * @throws AppError request.invalid, account.email_taken
   */
  invite(input: {
    email: string;
    expiresInSeconds?: number | undefined;
    clientId?: string | undefined;
    isMailed: boolean;
  }): Promise<Invited>;
  /**
   * The same with new links and the usual time; those before no longer work.
   * @throws AppError invitation.not_found, account.email_taken
   */
  renew(id: string): Promise<Invited>;
  find(token: string): Promise<{ email: string; clientId: string | undefined } | undefined>;
  /**
   * @returns undefined when the invitation is not valid any more
   * @throws AppError with `fields`: the invitation stays valid
   */
  accept(token: string, answers: SignupAnswers): Promise<Account | undefined>;
}

export function createInvitationUseCases(
  doors: RegistrationDoors,
  invitations: Invitations,
  registered: CreateRegistered,
): InvitationUseCases {
  const { clients, mail, recovery, events, settings, baseUrl } = doors;

  /** In the administrator's language: the invited person's is not known, and most read the same. */
  async function send(to: string, client: unknown, link: MailValues): Promise<Queued> {
    const inviter = await inviterOf(doors);
    const values = {
      ...link,
      ...(inviter !== undefined && { inviter }),
      ...(typeof client === 'string' && { application: client }),
    };
    return mail.queue({ to, template: 'invitation', values, language: events.origins.current()?.language });
  }

  const urlOf = (token: string): string => `${baseUrl}/oauth2/signup?token=${token}`;

  async function hand(
    { invitation, mailedToken, handedToken }: WithTokens,
    application: unknown,
    expiresSeconds: number,
    isMailed: boolean,
  ): Promise<Invited> {
    // Where it is read by administrators alone, the mailed one is one to hand over, too.
    const url = urlOf(mail.canSend() ? mailedToken : handedToken);
    const sent = isMailed ? await send(invitation.email, application, { url, expiresSeconds }) : undefined;
    return { invitation, url: urlOf(handedToken), mail: sent };
  }

  return {
    async invite({ email, clientId, isMailed, expiresInSeconds = settings().invitation_link_seconds }) {
      const client = clientId === undefined ? undefined : await clients.find(clientId);
      if (clientId !== undefined && client === undefined) {
        throw invalid({ client_id: 'Application not found.' });
      }
      const made = await invitations.create({ email, expiresInSeconds, clientId });
      return hand(made, client?.value.metadata.client_name, expiresInSeconds, isMailed);
    },

    async renew(id) {
      const expiresInSeconds = settings().invitation_link_seconds;
      const made = await invitations.renew(id, expiresInSeconds);
      const { clientId } = made.invitation;
      const client = clientId === undefined ? undefined : await clients.find(clientId);
      return hand(made, client?.value.metadata.client_name, expiresInSeconds, true);
    },

    async find(token) {
      const found = await invitations.find(token);
      return found && { email: found.invitation.email, clientId: found.invitation.clientId };
    },

    async accept(token, answers) {
      const found = await invitations.find(token);
      if (found === undefined) return undefined;
      const { id, email, clientId } = found.invitation;
      // The input is validated first: an unacceptable password must not use up the invitation.
      const record = await registered.prepare({ ...answers, values: { ...answers.values, email } });
      if (!(await invitations.claim(id))) return undefined;
      try {
        const verified = { ...record, isEmailVerified: found.isMailed };
        const account = await registered.create(verified, { via: 'invitation', clientId });
        await invitations.settle(id, account.id);
        // The administrator passed the link on, so the mailbox is not verified yet.
        if (!found.isMailed) await recovery.sendEmailVerification(account);
        await events.record({
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
  };
}
