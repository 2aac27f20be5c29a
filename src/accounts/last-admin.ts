// Guarantees that one active administrator always remains (decision 0010), even when two of them demote
// each other concurrently in different processes, although no transaction spans two documents.
//
// Protocol. Before a write takes away an active administrator, it adds an intent to the one document `admin_removals`
// by compare-and-set, which is allowed only if an active administrator remains after all intents. Then it replaces the
// account at exactly the version in the intent, and then it removes the intent.
// - Two concurrent writes: one wins; the other reads again, sees the intent and no longer counts that account.
// - Intents are read before administrators are counted, so that a demotion is visible in one of the two.
// - A crash leaves an intent behind, which only makes the check stricter. An old intent that blocks a write is fenced:
//   the account is written unchanged, so its version increases and the abandoned replace can never succeed; then the
//   intent is removed. Safety does not depend on the clock, only on the version.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import {
  AlreadyExists,
  type Collection,
  type ReplaceOptions,
  type Stored,
  VersionConflict,
} from '../store/port.ts';
import { update } from '../store/update.ts';
import { activeAdminFilters, isActiveAdmin } from './account.ts';

const FACT = 'admin_removals';
const STALE_MS = 10_000;

interface Intent {
  readonly accountId: string;
  readonly version: number;
  readonly at: number;
  readonly token: string;
}

const encode = (intents: readonly Intent[]): string =>
  intents.map(({ accountId, version, at, token }) => [accountId, version, at, token].join(' ')).join('\n');

const decode = (text: string): Intent[] =>
  text.split('\n').flatMap((line) => {
    const [accountId, version, at, token] = line.split(' ');
    if (!accountId || !token) return [];
    return [{ accountId, version: Number(version), at: Number(at), token }];
  });

export interface GuardedAccounts extends Collection<AccountRecord> {
  /** `replace` at the version that was read. */
  replaceRead(
    before: Stored<AccountRecord>,
    value: AccountRecord,
    options?: ReplaceOptions,
  ): Promise<Stored<AccountRecord>>;
}

/**
 * @returns the collection with a `replace` that throws AppError account.last_admin if no active administrator would
 *   remain; its other methods are unchanged
 */
export function guardLastAdmin(deps: {
  collection: Collection<AccountRecord>;
  facts: Collection<FactRecord>;
  clock: Clock;
  newId: () => string;
}): GuardedAccounts {
  const { collection, facts, clock, newId } = deps;

  async function drop(tokens: readonly string[]): Promise<void> {
    await update(facts, FACT, (fact) => {
      const intents = decode(fact.value).filter(({ token }) => !tokens.includes(token));
      return { value: { at: clock(), value: encode(intents) } };
    });
  }

  async function fence({ accountId, version }: Intent): Promise<void> {
    const stored = await collection.find(accountId);
    if (stored?.version !== version) return;
    try {
      await collection.replace(accountId, version, stored.value);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }

  async function hasOtherAdmin(going: readonly string[]): Promise<boolean> {
    // After the intents: who asked for deletion meanwhile is in one of the two.
    const waiting = (await collection.findBy('leaving', 'yes')).map(({ id }) => id);
    const leaving = new Set([...going, ...waiting]);
    // One more than are leaving: if there are that many administrators, one of them remains.
    const { items } = await collection.query({
      filters: activeAdminFilters,
      sort: 'id',
      order: 'asc',
      limit: Math.min(leaving.size + 1, 1000),
    });
    // Also by the record itself: a process of the version before drops the key from what it writes on MongoDB.
    return items.some(({ id, value }) => value.deletion === undefined && !leaving.has(id));
  }

  async function declare(intent: Intent): Promise<void> {
    for (;;) {
      const fact = await facts.find(FACT);
      const intents = decode(fact?.value.value ?? '');
      if (!(await hasOtherAdmin([intent, ...intents].map(({ accountId }) => accountId)))) {
        const stale = intents.filter(({ at }) => Math.abs(clock() - at) > STALE_MS);
        if (stale.length === 0) throw new AppError('account.last_admin');
        for (const forgotten of stale) await fence(forgotten);
        await drop(stale.map(({ token }) => token));
        continue;
      }
      const value = { at: intent.at, value: encode([...intents, intent]) };
      try {
        await (fact === undefined ? facts.insert(FACT, value) : facts.replace(FACT, fact.version, value));
        return;
      } catch (error) {
        const isBeaten = error instanceof AlreadyExists || error instanceof VersionConflict;
        if (!isBeaten) throw error;
      }
    }
  }

  const replaceRead: GuardedAccounts['replaceRead'] = async (before, value, options) => {
    const { id, version } = before;
    const write = (): Promise<Stored<AccountRecord>> => collection.replace(id, version, value, options);
    // Not an administrator: nothing to guard.
    if (isActiveAdmin(value) || !isActiveAdmin(before.value)) return write();
    const token = newId();
    await declare({ accountId: id, version, at: clock(), token });
    try {
      return await write();
    } finally {
      // The result of the write counts; an intent that could not be removed is fenced when it blocks another write.
      await drop([token]).catch(() => undefined);
    }
  };

  return {
    ...collection,
    replaceRead,
    async replace(id, version, value, options) {
      const before = isActiveAdmin(value) ? undefined : await collection.find(id);
      // Another version: the write reports it.
      if (before?.version !== version) return collection.replace(id, version, value, options);
      return replaceRead(before, value, options);
    },
  };
}
