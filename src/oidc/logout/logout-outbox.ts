// Stored deliveries of logout tokens: queued ones, their outcome, and what administrators see. Nothing secret is in them: a token
// is signed for each attempt and not kept.
import { type Clock, SKEW_MS } from '../../clock.ts';
import type { LogoutDeliveryRecord } from '../../store/collections.ts';
import {
  AlreadyExists,
  type Collection,
  type Query,
  type Stored,
  VersionConflict,
} from '../../store/port.ts';
import { update } from '../../store/update.ts';
import { pagesOf } from '../../store/walk.ts';
import type { LogoutNotice, LogoutOutcome } from './backchannel-logout.ts';

export type LogoutDelivery = Stored<LogoutDeliveryRecord>;

/** Queued or settled, none stays longer. */
const KEPT_MS = 7 * 86_400_000;
/** For this long a queued delivery is left to the process that queued it, which makes the first attempt at once. */
const HEAD_START_MS = 10_000;
/** From each failed attempt to the next: about an hour in all. */
export const DELAYS_MS = [60_000, 240_000, 900_000, 2_400_000] as const;
const MAX_DELAY_MS = Math.max(...DELAYS_MS);
const PAGE = 200;

const undefinedOn =
  (expected: typeof AlreadyExists | typeof VersionConflict) =>
  (error: unknown): undefined => {
    if (!(error instanceof expected)) throw error;
  };

/** What an attempt leaves in the record: the outcome of the last one. */
function withOutcome(value: LogoutDeliveryRecord, outcome: LogoutOutcome): LogoutDeliveryRecord {
  const { status: _, problem: __, ...kept } = value;
  return {
    ...kept,
    ...(outcome.origin !== undefined && { origin: outcome.origin }),
    ...('status' in outcome ? { status: outcome.status } : { problem: outcome.problem }),
  };
}

export function createLogoutOutbox({
  collection,
  clock,
  newId,
}: {
  readonly collection: Collection<LogoutDeliveryRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
}) {
  const expiry = () => ({ expiresAt: clock() + KEPT_MS });

  return {
    /** Durable when it resolves. @param id the same for the same ending; @returns undefined when it is there already */
    add(id: string, { clientId, sub, sid }: LogoutNotice): Promise<LogoutDelivery | undefined> {
      const now = clock();
      const value = { clientId, sub, sid, attempts: 0, createdAt: now, dueAt: now + HEAD_START_MS } as const;
      return collection.insert(id, { ...value, state: 'queued' }, expiry()).catch(undefinedOn(AlreadyExists));
    },

    /** Keeps the result of a test, which is not attempted again. */
    addTest(
      { clientId, sub, sid }: LogoutNotice,
      state: 'delivered' | 'failed',
      outcome: LogoutOutcome,
    ): Promise<LogoutDelivery> {
      const now = clock();
      const value = { clientId, sub, sid, state, attempts: 1, createdAt: now, dueAt: now, triedAt: now };
      return collection.insert(newId(), withOutcome({ ...value, isTest: true }, outcome), expiry());
    },

    async *due(): AsyncGenerator<LogoutDelivery> {
      const now = clock();
      const field = 'due_at';
      for (const filter of [
        { field, op: 'lte', value: now },
        // Later than any delay: of a clock that was set back since.
        { field, op: 'gte', value: now + MAX_DELAY_MS + SKEW_MS + 1 },
      ] as const)
        for await (const items of pagesOf(collection, { filters: [filter], limit: PAGE })) yield* items;
    },

    /**
     * Call before every attempt: other processes leave the delivery alone until `retryAt`, also if this one crashes.
     * @returns undefined when another process was faster
     */
    async claim(
      { id, value: { attempts } }: LogoutDelivery,
      retryAt: number,
    ): Promise<LogoutDelivery | undefined> {
      let isOurs = false;
      const claimed = await update(collection, id, (value) => {
        isOurs = value.state === 'queued' && value.attempts === attempts;
        const next = { ...value, attempts: attempts + 1, dueAt: retryAt, triedAt: clock() };
        return isOurs ? { value: next } : undefined;
      });
      return isOurs ? claimed : undefined;
    },

    /** Schedules it without an attempt. */
    async postpone({ id, version, value }: LogoutDelivery, dueAt: number): Promise<void> {
      await collection.replace(id, version, { ...value, dueAt }).catch(undefinedOn(VersionConflict));
    },

    /** Notes the outcome of an attempt; with `queued` the next is due as claimed. */
    async settle(
      { id, value: { attempts } }: LogoutDelivery,
      state: LogoutDeliveryRecord['state'],
      outcome: LogoutOutcome,
    ): Promise<void> {
      const settled = await update(collection, id, (value) =>
        value.state === 'queued' && value.attempts === attempts
          ? { value: { ...withOutcome(value, outcome), state } }
          : undefined,
      );
      if (state !== 'queued' && settled?.value.isOfDeletedUser === true) await collection.remove(id);
    },

    query: (clientId: string, query: Query) =>
      collection.query({
        ...query,
        filters: [...(query.filters ?? []), { field: 'client_id', op: 'eq', value: clientId }],
      }),

    async removeOfClient(clientId: string): Promise<void> {
      await collection.removeBy('client', clientId);
    },

    /** What is queued is still sent: a deleted user's sessions at the applications are to end, too. */
    async removeOfAccount(accountId: string): Promise<void> {
      const found = await collection.findBy('account', accountId);
      await Promise.all(
        found.map(async ({ id }) => {
          const left = await update(collection, id, (value) =>
            value.state === 'queued' ? { value: { ...value, isOfDeletedUser: true } } : undefined,
          );
          if (left !== undefined && left.value.state !== 'queued') await collection.remove(id);
        }),
      );
    },
  };
}

export type LogoutOutbox = ReturnType<typeof createLogoutOutbox>;
