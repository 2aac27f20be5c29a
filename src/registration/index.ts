// Ways for users to get an account: sign-up (sign-up.ts, where to start), an administrator's invitation
// (use-invitations.ts), and a one-time link to an account that an administrator created (enrolment.ts). Not here:
// accounts/ validates accounts and passwords, recovery/ owns the tokens of mailed links, interactions/ the pages.

import type { Accounts } from '../accounts/index.ts';
import type { Clients } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Mail } from '../mail/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Recovery } from '../recovery/index.ts';
import type { SettingValues } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as newAccounts from '../store/signups.ts';
import { createRegistered } from './create-registered.ts';
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

export function createRegistration(deps: {
  store: Pick<Store, 'collection' | 'ephemeral'>;
  baseUrl: string;
  secretKeys: readonly string[];
  clock: Clock;
  settings: () => SettingValues;
  accounts: Pick<Accounts, 'find' | 'findUsable' | 'prepare' | 'createPrepared' | 'changeOwnAccount'>;
  clients: Pick<Clients, 'find'>;
  mail: Pick<Mail, 'canSend' | 'queue' | 'requests'>;
  recovery: Pick<Recovery, 'links' | 'emailChanges' | 'sendEmailVerification'>;
  events: Pick<Events, 'record' | 'on' | 'origins'>;
  limits: Pick<RateLimits, 'consume' | 'isWithin'>;
}): Registration {
  const { store, clock, settings, accounts } = deps;
  const shared = { ...deps, registered: createRegistered(deps) };
  const records = store.collection(model.accounts);
  const signups = createSignups({
    collection: store.ephemeral(newAccounts.signups),
    accounts: records,
    secretKeys: deps.secretKeys,
    clock,
    settings,
  });
  const invitations = createInvitations({
    collection: store.collection(newAccounts.invitations),
    accounts: records,
    clock,
  });
  deps.events.on('accountRemoving', ({ accountId }) => invitations.removeAllOf(accountId));
  const tickets = createTickets({
    collection: store.ephemeral(newAccounts.enrolments),
    clock,
    findUsable: (id) => accounts.findUsable(id),
  });
  return {
    signUp: createSignUp({ ...shared, signups }),
    invitations: {
      query: invitations.query,
      remove: invitations.remove,
      ...createInvitationUseCases({ ...shared, invitations }),
    },
    enrolment: createEnrolment(shared),
    tickets,
  };
}
