// Limits on guessing a second factor (decision 0012): five wrong codes per challenge, twenty of authenticator app
// and mail together per account in 24 hours across all challenges, browsers and processes, and a hundred consecutive ones of a
// kind in total. Only success resets them. A browser that the account knows has ten of its own beside these, so that who knows
// the password and guesses elsewhere does not shut the owner out of it. Recovery codes have 80 random bits: guesses at them
// need no count, and one would let any stranger (interactions/recover.ts) keep the owner from using them.
// Each guess is evaluated inside the compare-and-set that also stores its result, so of any number of concurrent
// guesses only as many are evaluated as the limit allows; even a valid code beyond it is ignored.
import { countBrowserCode, isKnownBrowser, isUsable, uncountBrowserCode } from '../accounts/index.ts';
import { type Clock, SKEW_MS } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { AccountRecord, RateRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';

export type Verdict = 'ok' | 'wrong' | 'blocked';

/** A submitted code. */
export interface Attempt {
  readonly accountId: string;
  /** The challenge: the interaction, or the session at a step-up. Never a value that the browser chooses. */
  readonly boundTo: string;
  /** As typed. */
  readonly code: string;
  /** The digest by which the account knows the browser. */
  readonly browser?: string | undefined;
}

type Guesser = Pick<Attempt, 'accountId' | 'browser'>;

/**
 * Evaluates the code without side effects; called again after a conflicting write.
 * @returns the record after a valid code, undefined for a wrong one
 */
export type Evaluate = (record: AccountRecord) => AccountRecord | undefined;

/** The kinds of code, each with its own counter. */
export type CodeKind = keyof NonNullable<AccountRecord['codeFailures']>;

export interface SecondFactorLimit {
  check(
    kind: CodeKind,
    attempt: Pick<Attempt, 'accountId' | 'boundTo' | 'browser'>,
    evaluate: Evaluate,
  ): Promise<Verdict>;
  /**
   * Counts a failure beforehand, for a code that is stored outside of the account.
   * @returns the account as counted; undefined when no attempts are left
   */
  reserve(kind: CodeKind, guesser: Guesser): Promise<AccountRecord | undefined>;
  /** The code was not evaluated. */
  release(kind: CodeKind, guesser: Guesser): Promise<void>;
  /** After a valid code. */
  clear(kind: CodeKind, guesser: Pick<Attempt, 'accountId'>): Promise<void>;
}

export const MAX_WRONG_PER_CHALLENGE = 5;
const MAX_WRONG_PER_WINDOW = 20;
const WINDOW_MS = 86_400_000;
const MAX_WRONG_IN_A_ROW = 100;
// The maximum lifetime of an interaction (settings: interaction_seconds).
const CHALLENGE_MS = 86_400_000;

type Failures = NonNullable<NonNullable<AccountRecord['codeFailures']>[CodeKind]>;

/** Older documents have one counter for all kinds: it is used for the two kinds that require a password first. */
function allFailures({ codeFailures = {}, secondFactorFailures: one }: Readonly<AccountRecord>) {
  return one === undefined ? codeFailures : { totp: one, email: one, ...codeFailures };
}

const failuresOf = (account: Readonly<AccountRecord>, kind: CodeKind): Failures =>
  allFailures(account)[kind] ?? { inARow: 0, recentAt: [] };

/**
 * Whether so many consecutive codes of that kind were wrong that only a recovery code or an administrator enables it
 * again. Recovery codes, with 80 random bits each, are never disabled.
 */
export const isSecondFactorOff = (account: Readonly<AccountRecord>, kind: CodeKind): boolean =>
  kind !== 'recovery' && failuresOf(account, kind).inARow >= MAX_WRONG_IN_A_ROW;

const recentFailures = (account: Readonly<AccountRecord>, kind: CodeKind, now: number): number[] =>
  failuresOf(account, kind).recentAt.filter((at) => at > now - WINDOW_MS && at <= now + SKEW_MS);

const isKnown = (account: AccountRecord, { browser }: Pick<Attempt, 'browser'>, now: number): boolean =>
  browser !== undefined && isKnownBrowser(account, browser, now);

function isOpen(
  account: AccountRecord,
  kind: CodeKind,
  from: Pick<Attempt, 'browser'>,
  now: number,
): boolean {
  // A deactivation also stops a sign-in in progress.
  if (!isUsable(account)) return false;
  if (kind === 'recovery' || isKnown(account, from, now)) return true;
  const { secondFactorFailures: one } = account;
  // The single counter of an older release stands for both.
  const kinds: readonly CodeKind[] = one === undefined ? ['totp', 'email'] : [kind];
  const recent = kinds.reduce((sum, each) => sum + recentFailures(account, each, now).length, 0);
  return recent < MAX_WRONG_PER_WINDOW && !isSecondFactorOff(account, kind);
}

/** @returns undefined where it is not counted */
function countWrong(
  account: AccountRecord,
  kind: CodeKind,
  { browser }: Pick<Attempt, 'browser'>,
  now: number,
): AccountRecord | undefined {
  if (kind === 'recovery') return undefined;
  if (browser !== undefined && isKnown(account, { browser }, now))
    return countBrowserCode(account, browser, now);
  const { secondFactorFailures: _one, ...rest } = account;
  const counted: Failures = {
    inARow: failuresOf(account, kind).inARow + 1,
    recentAt: [...recentFailures(account, kind, now), now],
  };
  return { ...rest, codeFailures: { ...allFailures(account), [kind]: counted } };
}

/** Takes the latest of countWrong back. */
function uncounted(
  account: AccountRecord,
  kind: CodeKind,
  { browser }: Pick<Attempt, 'browser'>,
  now: number,
): AccountRecord {
  if (browser !== undefined && isKnown(account, { browser }, now))
    return uncountBrowserCode(account, browser);
  const { inARow, recentAt } = failuresOf(account, kind);
  const before: Failures = { inARow: Math.max(0, inARow - 1), recentAt: recentAt.slice(0, -1) };
  const { secondFactorFailures: _one, ...rest } = account;
  return { ...rest, codeFailures: { ...allFailures(account), [kind]: before } };
}

/** A valid recovery code re-enables every disabled kind. */
function clearWrong(account: AccountRecord, kind: CodeKind): AccountRecord {
  const { secondFactorFailures: _one, codeFailures: _all, ...rest } = account;
  const { [kind]: _cleared, ...others } = allFailures(account);
  const isEmpty = kind === 'recovery' || Object.keys(others).length === 0;
  return isEmpty ? rest : { ...rest, codeFailures: others };
}

export function createSecondFactorLimit(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  rates: EphemeralCollection<RateRecord>;
  clock: Clock;
}): SecondFactorLimit {
  const { accounts, rates, clock } = deps;

  /** @returns whether this challenge had an attempt left, which is then used */
  async function takeTry(challenge: string): Promise<boolean> {
    for (;;) {
      const last = { isGranted: false };
      const stored = await update(rates, challenge, ({ points }) => {
        last.isGranted = points < MAX_WRONG_PER_CHALLENGE;
        return last.isGranted ? { value: { points: points + 1 } } : undefined;
      });
      if (stored !== undefined) return last.isGranted;
      try {
        await rates.insert(challenge, { points: 1 }, { expiresAt: clock() + CHALLENGE_MS });
        return true;
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
      }
    }
  }

  async function evaluateAndCount(kind: CodeKind, { accountId, browser }: Guesser, evaluate: Evaluate) {
    const last: { verdict: Verdict } = { verdict: 'blocked' };
    const stored = await update(accounts, accountId, (record) => {
      const now = clock();
      last.verdict = 'blocked';
      if (!isOpen(record, kind, { browser }, now)) return undefined;
      const next = evaluate(record);
      last.verdict = next === undefined ? 'wrong' : 'ok';
      const value = next === undefined ? countWrong(record, kind, { browser }, now) : clearWrong(next, kind);
      return value && { value };
    });
    return stored === undefined
      ? { verdict: 'blocked' as const, record: undefined }
      : { verdict: last.verdict, record: stored.value };
  }

  return {
    async check(kind, { accountId, boundTo, browser }, evaluate) {
      // Evaluated first without a write, so that a flood of refused guesses costs little and uses no attempts.
      const stored = await accounts.find(accountId);
      if (stored === undefined || !isOpen(stored.value, kind, { browser }, clock())) return 'blocked';
      const challenge = `second_factor ${secretDigest(JSON.stringify([accountId, boundTo, kind]))}`;
      const isCountedInBrowser = kind !== 'recovery' && isKnown(stored.value, { browser }, clock());
      if (!isCountedInBrowser && !(await takeTry(challenge))) return 'blocked';
      const { verdict } = await evaluateAndCount(kind, { accountId, browser }, evaluate);
      if (verdict === 'ok') await rates.remove(challenge);
      return verdict;
    },
    async reserve(kind, guesser) {
      const { verdict, record } = await evaluateAndCount(kind, guesser, () => undefined);
      return verdict === 'blocked' ? undefined : record;
    },
    async release(kind, { accountId, browser }) {
      await update(accounts, accountId, (record) => ({
        value: uncounted(record, kind, { browser }, clock()),
      }));
    },
    async clear(kind, { accountId }) {
      await update(accounts, accountId, (record) =>
        allFailures(record)[kind] === undefined ? undefined : { value: clearWrong(record, kind) },
      );
    },
  };
}
