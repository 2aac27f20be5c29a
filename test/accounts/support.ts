// What the account tests share: both stores, a movable clock, accounts with cheap hashes, and collections that pause a write
// until a test continues it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { type Authenticate, createAuthenticate } from '../../src/accounts/authenticate.ts';
import { type CompleteSignIn, createCompleteSignIn } from '../../src/accounts/complete-sign-in.ts';
import type { Accounts } from '../../src/accounts/contract.ts';
import { createPasswords, type Passwords } from '../../src/accounts/passwords/password.ts';
import type { SignInOutcome } from '../../src/accounts/sign-in-events.ts';
import { createEvents, type Events } from '../../src/events/index.ts';
import { newId } from '../../src/ids.ts';
import { createLogger } from '../../src/log.ts';
import { type AccountRecord, accounts as accountsDefinition, facts } from '../../src/store/collections.ts';
import type { Collection, Store } from '../../src/store/port.ts';

/** The least that argon2 takes: well under a millisecond. */
export const cheapParameters = { memoryKib: 8, passes: 1, lanes: 1 };

export interface Backend {
  readonly store: Store;
  readonly now: () => number;
  advance(ms: number): void;
  /** A second process, as far as one process can play it: its own connection to the same data where there is a file. */
  reopen(): Store;
}

/** Runs the test on the store of the product, and with LONG=1 on that of the tests, too. */
export function withEachStore(name: string, run: (backend: Backend) => Promise<void>): void {
  if (process.env.LONG === '1')
    test(`memory: ${name}`, async () => {
      const time = movableClock();
      const store = createMemoryStore({ clock: time.now });
      await run({ ...time, store, reopen: () => store });
    });
  test(`sqlite: ${name}`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-accounts-'));
    const time = movableClock();
    const stores: Store[] = [];
    const reopen = (): Store => {
      const store = createSqliteStore({ file: join(directory, 'test.db'), clock: time.now });
      stores.push(store);
      return store;
    };
    try {
      await run({ ...time, store: reopen(), reopen });
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await rm(directory, { recursive: true, force: true });
    }
  });
}

function movableClock() {
  let now = 1_800_000_000_000;
  return {
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
}

export interface World {
  readonly accounts: Accounts;
  readonly authenticate: Authenticate;
  readonly signIns: CompleteSignIn;
  readonly collection: Collection<AccountRecord>;
  readonly outcomes: SignInOutcome[];
  readonly locks: { accountId: string; lockedUntil: number; isNoticeDue: boolean }[];
  readonly endedSessionsOf: string[];
  readonly removedOwnedOf: string[];
  readonly passwords: Passwords;
  readonly events: Events;
}

export const lockoutDefaults = { lockout_threshold: 5, lockout_seconds: 900 };

/** All of accounts on one store, as src/app/create-app.ts puts it together. */
export function createWorld(
  backend: Pick<Backend, 'store' | 'now'>,
  options: {
    passwords?: Passwords;
    collection?: Collection<AccountRecord>;
    lockout?: Partial<typeof lockoutDefaults>;
    maxWaiting?: number;
    hasOtherWayIn?: (record: AccountRecord) => boolean;
    endSessions?: (accountId: string) => Promise<void>;
    removeOwned?: (accountId: string) => Promise<void>;
  } = {},
): World {
  const collection = options.collection ?? backend.store.collection(accountsDefinition);
  const passwords =
    options.passwords ?? createPasswords({ parameters: cheapParameters, maxInFlight: 2, maxQueued: 1000 });
  const endedSessionsOf: string[] = [];
  const removedOwnedOf: string[] = [];
  const outcomes: SignInOutcome[] = [];
  const locks: World['locks'] = [];
  const events = createEvents();
  events.on('accountRemoving', async ({ accountId }) => {
    removedOwnedOf.push(accountId);
    await options.removeOwned?.(accountId);
  });
  events.on('accountLocked', (lock) => locks.push(lock));
  const collect = (line: string): void => {
    const { event, outcome, accountId }: SignInOutcome & { event: string } = JSON.parse(line);
    if (event === 'signin') outcomes.push({ outcome, ...(accountId !== undefined && { accountId }) });
  };
  const common = { collection, clock: backend.now, passwords };
  return {
    collection,
    events,
    signIns: createCompleteSignIn(common),
    passwords,
    outcomes,
    locks,
    endedSessionsOf,
    removedOwnedOf,
    accounts: createAccounts({
      ...common,
      facts: backend.store.collection(facts),
      newId,
      minPasswordLength: () => 8,
      endSessions: async (id) => {
        endedSessionsOf.push(id);
        await options.endSessions?.(id);
        return 0;
      },
      settings: () => ({ auth_mode: 'password', mfa_mode: 'optional' }),
      events,
    }),
    authenticate: createAuthenticate({
      ...common,
      chargeGuess: async () => ({ giveBack: () => undefined }),
      settings: () => ({ ...lockoutDefaults, ...options.lockout }),
      hasOtherWayIn: options.hasOtherWayIn ?? (() => false),
      isSignIn: true,
      events,
      log: createLogger({ level: 'info', destination: { write: collect } }),
      ...(options.maxWaiting !== undefined && { maxWaiting: options.maxWaiting }),
    }),
  };
}

/** How the tests' right password reads: nothing of any name in it. */
export const goodPassword = 'seven tall lanterns';

export const countOf = (outcomes: readonly SignInOutcome[], outcome: SignInOutcome['outcome']): number =>
  outcomes.filter((event) => event.outcome === outcome).length;

/** The collection with every call counted and, on request, acted upon before it goes through. */
export function observed(
  collection: Collection<AccountRecord>,
  before: (method: keyof Collection<AccountRecord>, id: string) => unknown,
): Collection<AccountRecord> {
  return {
    find: async (id) => {
      await before('find', id);
      return collection.find(id);
    },
    findBy: async (index, key) => {
      await before('findBy', key);
      return collection.findBy(index, key);
    },
    insert: async (id, value, options) => {
      await before('insert', id);
      return collection.insert(id, value, options);
    },
    put: async (id, value, options) => {
      await before('put', id);
      return collection.put(id, value, options);
    },
    replace: async (id, version, value, options) => {
      await before('replace', id);
      return collection.replace(id, version, value, options);
    },
    remove: async (id) => {
      await before('remove', id);
      return collection.remove(id);
    },
    removeBy: async (index, key) => {
      await before('removeBy', key);
      return collection.removeBy(index, key);
    },
    query: async (query) => {
      await before('query', '');
      return collection.query(query);
    },
  };
}
