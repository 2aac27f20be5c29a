// Ways for users to get an account: sign-up (sign-up.ts, where to start), an administrator's invitation
// (use-invitations.ts), and a one-time link to an account that an administrator created (enrolment.ts). Not here:
// accounts/ validates accounts and passwords, recovery/ owns the tokens of mailed links, interactions/ the pages.
import * as model from '../store/collections.ts';
import * as newAccounts from '../store/signups.ts';
import { createRegistered } from './create-registered.ts';
import type { RegistrationDoors } from './doors.ts';
import { createEnrolment, type Enrolment } from './enrolment.ts';
import { createTickets, type Tickets } from './enrolment-tickets.ts';
import { createInvitations, type Invitations } from './invitations.ts';
import { createSignUp, type SignUp } from './sign-up.ts';
import { createSignups } from './signups.ts';
import { createInvitationUseCases, type InvitationUseCases } from './use-invitations.ts';

export type { Invitation, Invitations } from './invitations.ts';
export { type SignupAnswers, type SignupQuestions, type SignupValues, signupFields } from './questions.ts';
export type { Invited } from './use-invitations.ts';

export interface Registration {
  readonly signUp: SignUp;
  readonly invitations: InvitationUseCases & Pick<Invitations, 'query' | 'remove'>;
  readonly enrolment: Enrolment;
  readonly tickets: Tickets;
}

export function createRegistration(doors: RegistrationDoors): Registration {
  const { store, clock, settings, accounts, secretKeys, events } = doors;
  const registered = createRegistered(doors);
  const records = store.collection(model.accounts);
  const signups = createSignups({
    collection: store.ephemeral(newAccounts.signups),
    accounts: records,
    secretKeys,
    clock,
    settings,
  });
  const invitations = createInvitations({
    collection: store.collection(newAccounts.invitations),
    accounts: records,
    clock,
  });
  events.on('accountRemoving', ({ accountId }) => invitations.removeAllOf(accountId));
  const tickets = createTickets({
    collection: store.ephemeral(newAccounts.enrolments),
    clock,
    findUsable: (id) => accounts.findUsable(id),
  });
  return {
    signUp: createSignUp(doors, signups, registered),
    invitations: {
      query: invitations.query,
      remove: invitations.remove,
      ...createInvitationUseCases(doors, invitations, registered),
    },
    enrolment: createEnrolment(doors),
    tickets,
  };
}
