// The first administrator: made once, by whoever comes first, and never again (decisions §1, checklist R128).
//
// Protocol, safe against parallel calls, other processes and a crash between any two steps:
//   1. The candidate is inserted as an inactive account that expires by itself in a minute.
//   2. The fact `onboarded` is written with the candidate's id, by insert or by compare-and-set: the one decision.
//   3. The candidate is made active and its expiry is taken away. Whoever lost step 2 removes its candidate.
// A crash after 1 leaves an account that nobody can use and that vanishes. After 2, anyone who reads the fact completes
// step 3 for it. Only when the account that the fact names is gone, and there is no administrator, does the next
// candidate take the fact over; the lost one cannot come back, because an expired document takes no replace (C5).
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, activeAdminFilters, toAccount } from './account.ts';

const FACT = 'onboarded';
const CANDIDATE_MS = 60_000;

export interface Onboarding {
  /** Whether there is, or will in a moment be, an administrator. Once true it costs nothing. */
  hasAdmin(): Promise<boolean>;
  /**
   * @param prepare makes the record, once it is known that onboarding is open (hashing is not free)
   * @throws AppError onboarding.closed, account.username_taken, account.email_taken
   */
  createFirstAdmin(prepare: () => Promise<AccountRecord>): Promise<Account>;
}

export function createOnboarding(deps: {
  collection: Collection<AccountRecord>;
  facts: Collection<FactRecord>;
  clock: Clock;
  newId: () => string;
  /** Turns a clash of unique keys into its AppError. */
  taken: (error: unknown) => unknown;
}): Onboarding {
  const { collection, facts, clock, newId, taken } = deps;
  // It never opens again, so knowing once is knowing for ever.
  let isKnownClosed = false;

  /** Step 3, for our own candidate or for one whose process died. @returns undefined when that account is gone */
  const complete = (accountId: string): Promise<Stored<AccountRecord> | undefined> =>
    update(collection, accountId, (value, stored) =>
      stored.expiresAt === undefined ? undefined : { value: { ...value, isActive: true }, expiresAt: null },
    );

  async function isClosed(claim: Stored<FactRecord> | undefined): Promise<boolean> {
    if (isKnownClosed) return true;
    if (claim !== undefined && (await complete(claim.value.value)) !== undefined) isKnownClosed = true;
    else isKnownClosed = await hasActiveAdmin();
    return isKnownClosed;
  }

  async function hasActiveAdmin(): Promise<boolean> {
    const { items } = await collection.query({
      filters: activeAdminFilters,
      sort: 'id',
      order: 'asc',
      limit: 1,
    });
    return items.length > 0;
  }

  async function insertCandidate(record: AccountRecord): Promise<string> {
    const id = newId();
    const candidate: AccountRecord = { ...record, role: 'admin', isActive: false };
    try {
      await collection.insert(id, candidate, { expiresAt: clock() + CANDIDATE_MS });
      return id;
    } catch (error) {
      // Taken by another candidate, or by the one that has just won: too late. Taken by a user: choose another name.
      const [holder] = await collection.findBy('username', record.usernameKey);
      const isBeaten = holder?.expiresAt !== undefined || (await isClosed(await facts.find(FACT)));
      throw isBeaten ? new AppError('onboarding.closed') : taken(error);
    }
  }

  return {
    hasAdmin: async () => isKnownClosed || isClosed(await facts.find(FACT)),
    createFirstAdmin: async (prepare) => {
      // Read before we look for an administrator: the takeover below succeeds only if it is still this very claim.
      const claim = await facts.find(FACT);
      if (await isClosed(claim)) throw new AppError('onboarding.closed');
      const id = await insertCandidate(await prepare());
      const fact = { at: clock(), value: id };
      try {
        await (claim === undefined ? facts.insert(FACT, fact) : facts.replace(FACT, claim.version, fact));
      } catch (error) {
        await collection.remove(id);
        const isBeaten = error instanceof AlreadyExists || error instanceof VersionConflict;
        throw isBeaten ? new AppError('onboarding.closed') : error;
      }
      const stored = await complete(id);
      if (stored === undefined) throw new AppError('server.unavailable', { retryAfterSeconds: 1 });
      isKnownClosed = true;
      return toAccount(stored);
    },
  };
}
