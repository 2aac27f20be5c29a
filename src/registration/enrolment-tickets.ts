// The minutes between a one-time link and the passkey created after it, where users have no passwords: the browser
// that used the link may create one in its next sign-in. A ticket authenticates no user by itself.
import { type Account, securityState } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { EphemeralCollection } from '../store/port.ts';
import type { EnrolmentRecord } from '../store/signups.ts';

export interface Tickets {
  /** @param browserId the browser's secret cookie value; replaces an earlier ticket of that browser */
  give(browserId: string, account: Account): Promise<void>;
  /** @returns the account for which this browser may create a passkey, until one is created or the ticket expires */
  find(browserId: string): Promise<Account | undefined>;
}

const TICKET_MS = 600_000;

export function createTickets(deps: {
  collection: EphemeralCollection<EnrolmentRecord>;
  clock: Clock;
  findUsable: (id: string) => Promise<Account | undefined>;
}): Tickets {
  const { collection, clock, findUsable } = deps;
  const idOf = (browserId: string): string => secretDigest(`enrolment ${browserId}`);
  return {
    async give(browserId, account) {
      const record = { accountId: account.id, securityState: securityState(account.id, account) };
      await collection.put(idOf(browserId), record, { expiresAt: clock() + TICKET_MS });
    },
    async find(browserId) {
      const ticket = (await collection.find(idOf(browserId)))?.value;
      const account = ticket && (await findUsable(ticket.accountId));
      // A new factor, or any other change of the security state, invalidates the ticket.
      const isCurrent = account && securityState(account.id, account) === ticket.securityState;
      return isCurrent ? account : undefined;
    },
  };
}
