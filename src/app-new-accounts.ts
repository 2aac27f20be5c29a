// Owns putting together the ways to an account of one's own: signing up, an invitation, a one-time link to an account that
// an administrator made (app.ts builds the rest).

import type { Accounts } from './accounts/accounts.ts';
import { createTickets } from './accounts/enrolment-tickets.ts';
import { createEnrolment } from './app-enrolment.ts';
import type { Factors } from './app-factors.ts';
import { createInvitationParts } from './app-invitations.ts';
import { createSignup, type SignupDeps } from './app-signup.ts';
import * as newAccounts from './store/signups.ts';

type Parts = SignupDeps & {
  readonly accounts: Pick<Accounts, 'prepare' | 'createPrepared' | 'update'>;
  readonly factors: Pick<Factors, 'links'>;
  /** Where people go who came by no application; none: nowhere. */
  readonly homeUrl: () => string | undefined;
};

export type NewAccounts = ReturnType<typeof createNewAccounts>;

export function createNewAccounts(parts: Parts) {
  const { store, config, clock, current, factors, isPasswordAsked, homeUrl } = parts;
  const { findUsable } = factors.signIn;
  const tickets = createTickets({ collection: store.ephemeral(newAccounts.enrolments), clock, findUsable });
  const signup = createSignup(parts);
  const invitations = createInvitationParts({ ...parts, signup });
  const enrolment = createEnrolment({ ...parts, baseUrl: config.baseUrl, current });
  return {
    /** For the job that answers wishes for mails. */
    answer: signup.answer,
    /** What of an account is not in its own document. */
    removeAllOf: invitations.removeAllOf,
    /** For interactions/. */
    pages: {
      signup: signup.signup,
      invitation: { ...invitations.invitation, tickets, homeUrl },
      enrolment: { ...enrolment.enrolment, isPasswordAsked, tickets, homeUrl },
    },
    /** For the admin API. */
    forAdministrators: {
      invitations: invitations.forAdministrators,
      sendEnrolmentLink: enrolment.sendEnrolmentLink,
    },
  };
}
