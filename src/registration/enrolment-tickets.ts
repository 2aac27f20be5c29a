// The few minutes between a one-time link and the passkey that is made after it, where people have no passwords: the
// browser that used the link up may make one, in the next sign-in that it begins. A ticket signs nobody in by itself.
import { type Account, securityState } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { EphemeralCollection } from '../store/port.ts';
import type { EnrolmentRecord } from '../store/signups.ts';

export interface Tickets {
  /** @param browserId the browser's secret cookie value; an earlier ticket of that browser is void */
  give(browserId: string, account: Account): Promise<void>;
  /** @returns whom this browser may make a passkey for: until one is made, or time is up */
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
      // A factor that was made, or anything else that trust rests on: that was it.
      const isCurrent = account && securityState(account.id, account) === ticket.securityState;
      return isCurrent ? account : undefined;
    },
  };
}
