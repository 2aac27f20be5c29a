// Owns putting together the ways to an account of one's own: signing up, an invitation, a one-time link to an account that
// an administrator made (create-app.ts builds the rest).

import type { Accounts } from '../accounts/accounts.ts';
import { consoleSignInUrl } from '../clients/console-sign-in.ts';
import { createTickets } from '../registration/enrolment-tickets.ts';
import * as newAccounts from '../store/signups.ts';
import { createEnrolment } from './enrolment.ts';
import type { Factors } from './factors.ts';
import { createInvitationParts } from './invitations.ts';
import type { Protection } from './protection.ts';
import { createSignup, type SignupDeps } from './signup.ts';

type Parts = Omit<SignupDeps, 'audit' | 'limits' | 'isPasswordAsked'> & {
  readonly protection: Pick<Protection, 'audit' | 'limits'>;
  readonly accounts: Pick<Accounts, 'prepare' | 'createPrepared' | 'update'>;
  readonly factors: Pick<Factors, 'links'>;
  readonly basePath: string;
};

export type NewAccounts = ReturnType<typeof createNewAccounts>;

export function createNewAccounts(parts: Parts) {
  const { store, config, clock, current, factors, basePath } = parts;
  const { baseUrl } = config;
  // Where people go who came by no application.
  const homeUrl = `${basePath}/account`;
  const { audit, limits } = parts.protection;
  const isPasswordAsked = (): boolean => current().auth_mode !== 'passkey_only';
  const { findUsable } = factors.signIn;
  const tickets = createTickets({ collection: store.ephemeral(newAccounts.enrolments), clock, findUsable });
  const signup = createSignup({ ...parts, audit, limits, isPasswordAsked });
  const invitations = createInvitationParts({ ...parts, audit, signup });
  const enrolment = createEnrolment({ ...parts, baseUrl, audit, isPasswordAsked });
  return {
    /** What of an account is not in its own document. */
    removeAllOf: invitations.removeAllOf,
    /** For interactions/. */
    pages: {
      signup: signup.signup,
      invitation: { ...invitations.invitation, tickets, homeUrl },
      enrolment: { ...enrolment.enrolment, isPasswordAsked, tickets, homeUrl },
      signUpUrl: (): string => consoleSignInUrl({ baseUrl, basePath, page: 'home', isSignUp: true }),
    },
    /** For the admin API. */
    forAdministrators: {
      invitations: invitations.forAdministrators,
      sendEnrolmentLink: enrolment.sendEnrolmentLink,
    },
  };
}
