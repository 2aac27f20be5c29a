// Creates the first administrator: once, for the first caller, and never again (decision 0001).
//
// Protocol, safe against concurrent calls, other processes and a crash between any two steps:
//   1. Insert the candidate as an inactive account that expires after a minute.
//   2. Write the fact `onboarded` with the candidate's id, by insert or compare-and-set: the only decision.
//   3. Activate the candidate and remove its expiry. A caller that lost step 2 removes its candidate.
// A crash after 1 leaves an account that no user can use and that expires. After 2, any process that reads the fact
// completes step 3. Only if the account in the fact is gone and there is no administrator does the next candidate
// replace the fact; the lost one cannot return, because an expired document accepts no replace (C5).
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, activeAdminFilters, toAccount } from './account.ts';

const FACT = 'onboarded';
const CANDIDATE_MS = 60_000;

export interface Onboarding {
  /** Whether there is an administrator, or will be in a moment. A positive answer is cached. */
  hasAdmin(): Promise<boolean>;
  /**
   * @param prepare creates the record; called only if onboarding is open, because hashing is expensive
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
  // Onboarding never opens again, so a positive answer stays valid.
  let isKnownClosed = false;

  /** Step 3, for this candidate or for one whose process crashed. @returns undefined when that account is gone */
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
      // Held by another candidate or the new administrator: too late. Held by a user: choose another name.
      const [holder] = await collection.findBy('username', record.usernameKey);
      const isBeaten = holder?.expiresAt !== undefined || (await isClosed(await facts.find(FACT)));
      throw isBeaten ? new AppError('onboarding.closed') : taken(error);
    }
  }

  return {
    hasAdmin: async () => isKnownClosed || isClosed(await facts.find(FACT)),
    createFirstAdmin: async (prepare) => {
      // Read before administrators are counted: the takeover below succeeds only if the claim is still unchanged.
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
