// Signing in with a password: one answer and the same work for unknown, wrong, locked and inactive (decisions §8,
// checklist R084–R090). Callers learn an account or nothing; why is told to onOutcome alone. Wrong passwords from browsers
// that the account does not know close password sign-in for such browsers (lockout.ts); a known browser has a counter of
// its own (known-browsers.ts), so that guesses elsewhere do not shut out the owner.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import { type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, toAccount } from './account.ts';
import { type BrowserTokens, countBrowserFailure, findKnownBrowser } from './known-browsers.ts';
import { countFailure, isExhausted, isLocked, type LockoutSettings } from './lockout.ts';
import { findByLoginName, type LoginName, parseLoginName } from './login-name.ts';
import { createKeyedQueue } from './passwords/bounded-queue.ts';
import type { Passwords } from './passwords/password.ts';

export interface SignInOutcome {
  readonly outcome: 'success' | 'unknown' | 'wrong' | 'locked' | 'inactive';
  readonly accountId?: string;
}

export interface AuthenticateDeps {
  collection: Collection<AccountRecord>;
  clock: Clock;
  passwords: Passwords;
  settings: () => LockoutSettings;
  /** Whether its owner can come in without a password, or by a mailed link. */
  hasOtherWayIn: (record: AccountRecord) => boolean;
  /**
   * Where slower hashes of other systems are stored: how long a refusal takes, and what was met
   * (passwords/refusal-time.ts).
   */
  refusals?: { msFor(password: string): number; met(hash: string, ms: number): void };
  /** Told of every attempt, for the audit log. Awaited beside the count of a failure, so that it costs no extra time. */
  onOutcome: (event: SignInOutcome) => unknown;
  /** Called once per lock. `isNoticeDue`: whether the owner is to be told by mail. `lockedUntil` in epoch milliseconds. */
  onLocked?: (event: { accountId: string; lockedUntil: number; isNoticeDue: boolean }) => unknown;
  /** How many attempts on one name may wait for their turn; more are refused with server.busy. */
  maxWaitingPerName?: number;
}

/** Where the password was typed. */
export interface FromBrowser {
  readonly tokens: BrowserTokens;
  /** Thrown unless the account knows this browser: limits that anyone can use up do not hold for one that is known. */
  readonly refusal?: AppError;
}

/** `provenAt`: when the account was read for it, in epoch milliseconds; a change of the account since makes it worth nothing. */
export type Authenticated = Account & { readonly provenAt: number };

/**
 * @param browser absent where there is none, as in the password grant: then it is not known
 * @throws AppError server.busy when too many attempts are waiting
 */
export type Authenticate = (
  identifier: string,
  password: string,
  browser?: FromBrowser,
) => Promise<Authenticated | undefined>;

type Found = Stored<AccountRecord>;

/** What one attempt counts against. */
interface Counter {
  failuresOf(value: AccountRecord): number;
  isClosed(value: AccountRecord, now: number): boolean;
  /** @returns undefined when it is closed */
  count(value: AccountRecord, now: number): AccountRecord | undefined;
}

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { collection, clock, passwords, settings, hasOtherWayIn, onOutcome, onLocked } = deps;
  // One attempt per account at a time, so that none is evaluated on a count that another is about to raise (R088).
  // Unknown names wait in lines of their own, or the waiting would tell which names exist.
  const turns = createKeyedQueue({ maxInFlight: 1, maxQueued: deps.maxWaitingPerName ?? 32 });

  const findAccount = async (name: LoginName | undefined): Promise<Found | undefined> =>
    name && findByLoginName(collection, name);

  /** The change is tried on the version at hand first, which saves the read that update() begins with. */
  async function changeFrom(
    found: Found,
    change: (value: AccountRecord) => AccountRecord | undefined,
  ): Promise<Found | undefined> {
    const next = change(found.value);
    if (next === undefined) return undefined;
    try {
      return await collection.replace(found.id, found.version, next);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
    const last = { isRefused: false };
    const stored = await update(collection, found.id, (value) => {
      const again = change(value);
      last.isRefused = again === undefined;
      return again && { value: again };
    });
    return last.isRefused ? undefined : stored;
  }

  const unknownBrowsers: Counter = {
    failuresOf: ({ failedLoginAttempts }) => failedLoginAttempts,
    isClosed: (value, now) => isLocked(value, now) || (isExhausted(value) && hasOtherWayIn(value)),
    count: (value, now) =>
      unknownBrowsers.isClosed(value, now) ? undefined : countFailure(value, settings(), now),
  };
  const knownBrowser = (known: string): Counter => ({
    failuresOf: ({ knownBrowsers = [] }) =>
      knownBrowsers.find(({ digest }) => digest === known)?.failures ?? 0,
    isClosed: ({ knownBrowsers = [] }) => !knownBrowsers.some(({ digest }) => digest === known),
    count: (value, now) => countBrowserFailure(value, known, now),
  });

  const knownDigest = (found: Found | undefined, browser: FromBrowser | undefined): string | undefined =>
    found && browser && findKnownBrowser(found.id, found.value, browser.tokens, clock())?.digest;

  /** Counts one failure. @returns undefined when it was closed, switched off or removed meanwhile */
  const count = (found: Found, counter: Counter, now: number): Promise<Found | undefined> =>
    changeFrom(found, (value) => (isOpen(value) ? counter.count(value, now) : undefined));

  async function reportLock(counted: Found | undefined, now: number): Promise<void> {
    const { lockedUntil = 0, guessedAt, guessNoticeAt } = counted?.value ?? {};
    if (counted === undefined || guessedAt !== now || lockedUntil <= now) return;
    await onLocked?.({ accountId: counted.id, lockedUntil, isNoticeDue: guessNoticeAt === now });
  }

  /**
   * Evaluates the password. After a failure the attempt is counted beforehand, as if it were wrong, so that attempts
   * in other processes cannot be evaluated on the same count; hash and count run side by side, and the result of the
   * hash is not looked at unless the count was granted. @returns the account as counted, and the new hash if one is due
   */
  async function evaluate(found: Found, counter: Counter, password: string, now: number) {
    const isCountedFirst = counter.failuresOf(found.value) > 0;
    const [counted, checked] = await Promise.allSettled([
      isCountedFirst ? count(found, counter, now) : found,
      passwords.verify(found.value.passwordHash, password),
    ]);
    if (counted.status === 'rejected') throw counted.reason;
    if (checked.status === 'rejected') {
      // Nobody looked at the password (server.busy): the attempt is handed back unless something else came between.
      if (isCountedFirst && counted.value !== undefined) await handBack(counted.value, found);
      throw checked.reason;
    }
    return { current: counted.value, isCountedFirst, ...checked.value };
  }

  async function handBack(counted: Found, before: Found): Promise<void> {
    // Somebody counted in between: writing back what we saw would undo that count, so ours stays, too.
    if (counted.version !== before.version + 1) return;
    try {
      await collection.replace(counted.id, counted.version, before.value);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }

  /**
   * Gives the count back that was taken beforehand; what came between stays counted, as it was counted by others. What
   * is held against the account is cleared when the sign-in is complete (complete-sign-in.ts).
   * @returns undefined when what was evaluated is no longer what counts
   */
  async function accept(current: Found, before: Found, password: string, needsRehash: boolean) {
    const rehashed = needsRehash ? await rehash(password) : undefined;
    // Without a write, what changed meanwhile shows where the sign-in goes on: see CompleteSignIn.
    if (current === before && rehashed === undefined) return current;
    return changeFrom(current, (value) => {
      if (value.passwordHash !== before.value.passwordHash || !isOpen(value)) return undefined;
      const isUntouched = value === current.value && current.version === before.version + 1;
      const given = isUntouched ? before.value : value;
      return rehashed === undefined ? given : { ...given, passwordHash: rehashed };
    });
  }

  async function rehash(password: string): Promise<string | undefined> {
    try {
      return await passwords.hash(password);
    } catch (error) {
      // Under load the better hash waits for the next sign-in; this one is right and goes on.
      if (error instanceof AppError && error.code === 'server.busy') return undefined;
      throw error;
    }
  }

  async function attempt(
    found: Found | undefined,
    password: string,
    known: string | undefined,
    provenAt: number,
  ): Promise<Authenticated | undefined> {
    const now = clock();
    const counter = known === undefined ? unknownBrowsers : knownBrowser(known);
    const refusal = refusalOf(found, counter, now);
    if (found === undefined || refusal !== undefined) {
      await passwords.verify(undefined, password);
      await onOutcome({ outcome: refusal ?? 'unknown', ...(found && { accountId: found.id }) });
      return undefined;
    }
    const accountId = found.id;
    const checkedAt = performance.now();
    const { current, isCountedFirst, isValid, needsRehash } = await evaluate(found, counter, password, now);
    deps.refusals?.met(found.value.passwordHash ?? '', performance.now() - checkedAt);
    if (current !== undefined && isValid) {
      const stored = await accept(current, found, password, needsRehash);
      await onOutcome({ outcome: stored === undefined ? 'locked' : 'success', accountId });
      return stored && { ...toAccount(stored), provenAt };
    }
    const [counted] = await Promise.all([
      isCountedFirst ? current : count(found, counter, now),
      onOutcome({ outcome: current === undefined ? 'locked' : 'wrong', accountId }),
    ]);
    await reportLock(counted, now);
    return undefined;
  }

  return async (identifier, password, browser) => {
    const name = parseLoginName(identifier);
    // Before the account is read: what changes after that is after the proof.
    const startedAt = clock();
    const found = await findAccount(name);
    const first = knownDigest(found, browser);
    if (first === undefined && browser?.refusal !== undefined) throw browser.refusal;
    // A known browser waits in a line of its own: a flood of guesses must not fill the one that the owner stands in.
    const whose = found === undefined ? `unknown ${name?.key ?? ''}` : `account ${found.id}`;
    let begunAt = performance.now();
    const account = await turns.run(first === undefined ? whose : `${whose} ${first}`, async (hasWaited) => {
      // Whoever had to wait looks again: the attempt before has changed the count.
      begunAt = performance.now();
      const provenAt = hasWaited ? clock() : startedAt;
      const current = hasWaited ? await findAccount(name) : found;
      const same = current?.id === found?.id ? current : undefined;
      const known = hasWaited ? knownDigest(same, browser) : first;
      if (known === undefined && browser?.refusal !== undefined) throw browser.refusal;
      return attempt(same, password, known, provenAt);
    });
    if (account !== undefined || deps.refusals === undefined) return account;
    const left = begunAt + deps.refusals.msFor(password) - performance.now();
    // Not in the line, where others would wait for it.
    if (left > 0) await sleep(left);
    return undefined;
  };
}

const isOpen = (value: AccountRecord): boolean => value.isActive && value.deletingAt === undefined;

/** Why the password does not even matter; an account without one has nothing that could be guessed. */
function refusalOf(
  found: Found | undefined,
  counter: Counter,
  now: number,
): SignInOutcome['outcome'] | undefined {
  if (found === undefined) return 'unknown';
  if (!isOpen(found.value)) return 'inactive';
  if (counter.isClosed(found.value, now)) return 'locked';
  return found.value.passwordHash === undefined ? 'wrong' : undefined;
}
