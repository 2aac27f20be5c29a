// Password authentication: the same answer after the same work for unknown names, wrong passwords, locked and
// inactive accounts (decision 0012). Callers get the account or nothing; only the audit log gets
// the reason. Wrong passwords from browsers that the account does not know lock password sign-in for such browsers
// (lockout.ts). A known browser has its own counter (known-browsers.ts), so that an attacker's guesses do not lock
// out the owner.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createFairQueue, type TurnPath } from '../rate-limits/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import { type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, toAccount } from './account.ts';
import type { ChargeGuess } from './guess-limits.ts';
import { type BrowserTokens, countBrowserFailure, findKnownBrowser } from './known-browsers.ts';
import { countFailure, isExhausted, isLocked, type LockoutSettings } from './lockout.ts';
import { findByLoginName, type LoginName, parseLoginName } from './login-name.ts';
import type { Passwords } from './passwords/password.ts';
import { type PasswordEventDeps, recordOutcome, reportLock, type SignInOutcome } from './sign-in-events.ts';

export interface AuthenticateDeps extends PasswordEventDeps {
  chargeGuess: ChargeGuess;
  collection: Collection<AccountRecord>;
  clock: Clock;
  passwords: Passwords;
  settings: () => LockoutSettings;
  /** Whether the owner can sign in without a password or with a mailed link. */
  hasOtherWayIn: (record: AccountRecord) => boolean;
  /**
   * Set where slower hashes imported from other systems are stored: how long a refusal takes, and a report of each
   * hash that was checked (passwords/refusal-time.ts).
   */
  refusals?: { msFor(password: string): number; met(hash: string, ms: number): void };
  /** Whether a matching password is logged as an attempt to sign in; every other outcome is. */
  isSignIn: boolean;
  /** The networks that the attempt is from, the widest first: those on one name take turns by them. */
  whoAsks?: () => TurnPath;
  /** How many attempts may wait for earlier ones on their names; the name with the most is refused first (server.busy). */
  maxWaiting?: number;
}

/** The browser in which the password was entered. */
export interface FromBrowser {
  readonly tokens: BrowserTokens;
}

/**
 * `provenAt`: when the account was read for it, in epoch milliseconds; a later change of the account invalidates it.
 */
export type Authenticated = Account & { readonly provenAt: number };

/**
 * @param browser absent without a browser, as in the password grant; then it counts as unknown
 * @throws AppError request.rate_limited, or server.busy when too many attempts are waiting
 */
export type Authenticate = (
  identifier: string,
  password: string,
  browser?: FromBrowser,
) => Promise<Authenticated | undefined>;

type Found = Stored<AccountRecord>;

/** All on one name, the last waits about eight seconds, which is as long as users and proxies wait. */
const MAX_WAITING = 256;

/** The counter that one attempt increments. */
interface Counter {
  failuresOf(value: AccountRecord): number;
  isClosed(value: AccountRecord, now: number): boolean;
  /** @returns undefined when it is locked */
  count(value: AccountRecord, now: number): AccountRecord | undefined;
}

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { collection, clock, passwords, settings, hasOtherWayIn } = deps;
  // One attempt per account at a time, so that none is evaluated against a count that another is about to raise
  // (R088). Unknown names have queues of their own, or the waiting time would reveal which names exist.
  const turns = createFairQueue({ maxQueued: deps.maxWaiting ?? MAX_WAITING });

  const findAccount = async (name: LoginName | undefined): Promise<Found | undefined> =>
    name && findByLoginName(collection, name);

  /** Tries the change on the version at hand first, which saves the read that update() starts with. */
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

  /** Counts one failure. @returns undefined when the account was locked, deactivated or removed meanwhile */
  const count = (found: Found, counter: Counter, now: number): Promise<Found | undefined> =>
    changeFrom(found, (value) => (isOpen(value) ? counter.count(value, now) : undefined));

  function reportLockOf(counted: Found | undefined, now: number): void {
    const { lockedUntil = 0, guessedAt, guessNoticeAt } = counted?.value ?? {};
    if (counted === undefined || guessedAt !== now || lockedUntil <= now) return;
    reportLock(deps, { accountId: counted.id, lockedUntil, isNoticeDue: guessNoticeAt === now });
  }

  /**
   * Evaluates the password. After an earlier failure, the attempt is counted as wrong beforehand, so that attempts in
   * other processes cannot be evaluated against the same count. Hashing and counting run in parallel; the result of
   * the hash is ignored unless the count was granted.
   * @returns the account as counted, and the new hash if one is due
   */
  async function evaluate(found: Found, counter: Counter, password: string, now: number) {
    const isCountedFirst = counter.failuresOf(found.value) > 0;
    const [counted, checked] = await Promise.allSettled([
      isCountedFirst ? count(found, counter, now) : found,
      passwords.verify(found.value.passwordHash, password),
    ]);
    if (counted.status === 'rejected') throw counted.reason;
    if (checked.status === 'rejected') {
      // The password was not checked (server.busy): the attempt is given back unless another write came between.
      if (isCountedFirst && counted.value !== undefined) await handBack(counted.value, found);
      throw checked.reason;
    }
    return { current: counted.value, isCountedFirst, ...checked.value };
  }

  async function handBack(counted: Found, before: Found): Promise<void> {
    // Another attempt was counted meanwhile: writing back our record would undo that count, so ours stays as well.
    if (counted.version !== before.version + 1) return;
    try {
      await collection.replace(counted.id, counted.version, before.value);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }

  /**
   * Gives back the count that was taken beforehand; failures that others counted meanwhile stay. A complete sign-in
   * clears the account's failures (complete-sign-in.ts).
   * @returns undefined when the evaluated password is no longer the current one
   */
  async function accept(current: Found, before: Found, password: string, needsRehash: boolean) {
    const rehashed = needsRehash ? await rehash(password) : undefined;
    // Nothing is written here: CompleteSignIn detects a change of the account in the meantime.
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
      // Under load the rehash waits for the next sign-in; the password matched, so this one continues.
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
      await recordOutcome(deps, { outcome: refusal ?? 'unknown', ...(found && { accountId: found.id }) });
      return undefined;
    }
    const accountId = found.id;
    const checkedAt = performance.now();
    const { current, isCountedFirst, isValid, needsRehash } = await evaluate(found, counter, password, now);
    deps.refusals?.met(found.value.passwordHash ?? '', performance.now() - checkedAt);
    if (current !== undefined && isValid) {
      const stored = await accept(current, found, password, needsRehash);
      if (stored === undefined) await recordOutcome(deps, { outcome: 'locked', accountId });
      else if (deps.isSignIn) await recordOutcome(deps, { outcome: 'success', accountId });
      return stored && { ...toAccount(stored), provenAt };
    }
    const [counted] = await Promise.all([
      isCountedFirst ? current : count(found, counter, now),
      // In parallel with counting, so that it costs no extra time.
      recordOutcome(deps, { outcome: current === undefined ? 'locked' : 'wrong', accountId }),
    ]);
    reportLockOf(counted, now);
    return undefined;
  }

  /** One attempt at a time, and all refusals of a password after the same time. */
  async function attemptInTurn(
    name: LoginName | undefined,
    password: string,
    browser: FromBrowser | undefined,
    refusal: AppError | undefined,
  ): Promise<Authenticated | undefined> {
    // Before the account is read: a change after this moment is later than the authentication.
    const startedAt = clock();
    const found = await findAccount(name);
    const first = knownDigest(found, browser);
    if (first === undefined && refusal !== undefined) throw refusal;
    // A known browser has its own queue, so that a flood of guesses cannot block the owner.
    const whose = found === undefined ? `unknown ${name?.key ?? ''}` : `account ${found.id}`;
    let begunAt = performance.now();
    const line = first === undefined ? whose : `${whose} ${first}`;
    const account = await turns.run(line, deps.whoAsks?.() ?? [], async (hasWaited) => {
      // An attempt that had to wait reads again: the one before it changed the count.
      begunAt = performance.now();
      const provenAt = hasWaited ? clock() : startedAt;
      const current = hasWaited ? await findAccount(name) : found;
      const same = current?.id === found?.id ? current : undefined;
      const known = hasWaited ? knownDigest(same, browser) : first;
      if (known === undefined && refusal !== undefined) throw refusal;
      return attempt(same, password, known, provenAt);
    });
    if (account !== undefined || deps.refusals === undefined) return account;
    const left = begunAt + deps.refusals.msFor(password) - performance.now();
    // Outside of the queue, where it would delay others.
    if (left > 0) await sleep(left);
    return undefined;
  }

  return async (identifier, password, browser) => {
    const name = parseLoginName(identifier);
    // Before the password is checked, so that of parallel guesses only as many are checked as there are points.
    const guess = await deps.chargeGuess(name, browser?.tokens ?? []);
    try {
      const account = await attemptInTurn(name, password, browser, guess.refusal);
      if (account !== undefined) guess.giveBack();
      return account;
    } catch (error) {
      // The password was not checked.
      if (error instanceof AppError && error.code === 'server.busy') guess.giveBack();
      throw error;
    }
  };
}

const isOpen = (value: AccountRecord): boolean => value.isActive && value.deletingAt === undefined;

/** Why the password does not matter; an account without a password has nothing to guess. */
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
