// Owns signing in with a password: one answer and the same work for unknown, wrong, locked and inactive (decisions §8,
// checklist R084–R090). Callers learn an account or nothing; why is told to onOutcome alone.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import { type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, isLocked, toAccount } from './account.ts';
import { createKeyedQueue } from './bounded-queue.ts';
import { clearFailures, countFailure, type LockoutSettings } from './lockout.ts';
import { findByLoginName, type LoginName, parseLoginName } from './login-name.ts';
import type { Passwords } from './password.ts';

export interface SignInOutcome {
  readonly outcome: 'success' | 'unknown' | 'wrong' | 'locked' | 'inactive';
  readonly accountId?: string;
}

export interface AuthenticateDeps {
  collection: Collection<AccountRecord>;
  clock: Clock;
  passwords: Passwords;
  settings: () => LockoutSettings;
  /** Told of every attempt, for the audit log. Awaited beside the count of a failure, so that it costs no extra time. */
  onOutcome: (event: SignInOutcome) => unknown;
  /** Told once per lock, for the mail to the owner. `lockedUntil` in epoch milliseconds. */
  onLocked?: (event: { accountId: string; lockedUntil: number }) => unknown;
  /** How many attempts on one name may wait for their turn; more are refused with server.busy. */
  maxWaitingPerName?: number;
}

/** @throws AppError server.busy when too many attempts are waiting */
export type Authenticate = (identifier: string, password: string) => Promise<Account | undefined>;

type Found = Stored<AccountRecord>;

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { collection, clock, passwords, settings, onOutcome, onLocked } = deps;
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

  /** Counts one failure. @returns undefined when the account was locked, switched off or removed meanwhile */
  const count = (found: Found, now: number): Promise<Found | undefined> =>
    changeFrom(found, (value) =>
      isOpen(value) && !isLocked(value, now) ? countFailure(value, settings(), now) : undefined,
    );

  async function tellLock(counted: Found | undefined, now: number): Promise<void> {
    const lockedUntil = counted?.value.lockedUntil;
    if (counted === undefined || lockedUntil === undefined || lockedUntil <= now) return;
    await onLocked?.({ accountId: counted.id, lockedUntil });
  }

  /**
   * Evaluates the password. After a failure the attempt is counted beforehand, as if it were wrong, so that attempts
   * in other processes cannot be evaluated on the same count; hash and count run side by side, and the result of the
   * hash is not looked at unless the count was granted. @returns the account as counted, and the new hash if one is due
   */
  async function evaluate(found: Found, password: string, now: number) {
    const isCountedFirst = found.value.failedLoginAttempts > 0;
    const [counted, checked] = await Promise.allSettled([
      isCountedFirst ? count(found, now) : found,
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

  /** One write. @returns undefined when what was evaluated is no longer what counts */
  async function succeed(current: Found, password: string, needsRehash: boolean, now: number) {
    const { passwordHash: evaluated, lockedUntil } = current.value;
    const rehashed = needsRehash ? await rehash(password) : undefined;
    return changeFrom(current, (value) => {
      const isSame = value.passwordHash === evaluated && value.lockedUntil === lockedUntil;
      if (!isSame || !isOpen(value)) return undefined;
      const next = { ...clearFailures(value), lastLoginAt: now };
      return rehashed === undefined ? next : { ...next, passwordHash: rehashed };
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

  async function attempt(found: Found | undefined, password: string): Promise<Account | undefined> {
    const now = clock();
    const refusal = refusalOf(found, now);
    if (found === undefined || refusal !== undefined) {
      await passwords.verify(undefined, password);
      await onOutcome({ outcome: refusal ?? 'unknown', ...(found && { accountId: found.id }) });
      return undefined;
    }
    const accountId = found.id;
    const { current, isCountedFirst, isValid, needsRehash } = await evaluate(found, password, now);
    if (current !== undefined && isValid) {
      const stored = await succeed(current, password, needsRehash, now);
      await onOutcome({ outcome: stored === undefined ? 'locked' : 'success', accountId });
      return stored && toAccount(stored);
    }
    const [counted] = await Promise.all([
      isCountedFirst ? current : count(found, now),
      onOutcome({ outcome: current === undefined ? 'locked' : 'wrong', accountId }),
    ]);
    await tellLock(counted, now);
    return undefined;
  }

  return async (identifier, password) => {
    const name = parseLoginName(identifier);
    const found = await findAccount(name);
    const line = found === undefined ? `unknown ${name?.key ?? ''}` : `account ${found.id}`;
    return turns.run(line, async (hasWaited) => {
      // Whoever had to wait looks again: the attempt before has changed the count.
      const current = hasWaited ? await findAccount(name) : found;
      return attempt(current?.id === found?.id ? current : undefined, password);
    });
  };
}

const isOpen = (value: AccountRecord): boolean => value.isActive && value.deletingAt === undefined;

/** Why the password does not even matter; an account without one has nothing that could be guessed. */
function refusalOf(found: Found | undefined, now: number): SignInOutcome['outcome'] | undefined {
  if (found === undefined) return 'unknown';
  if (!isOpen(found.value)) return 'inactive';
  if (isLocked(found.value, now)) return 'locked';
  return found.value.passwordHash === undefined ? 'wrong' : undefined;
}
