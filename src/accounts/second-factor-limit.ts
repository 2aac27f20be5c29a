// Owns how often a second factor may be guessed (checklist R094): five wrong codes per challenge, ten per account in any
// ten minutes over all methods, challenges, browsers and processes, a hundred in a row ever. Success alone resets.
//
// No verdict without its count: a guess is judged inside the compare-and-set that also writes what it came to, so of any
// number of guesses at once only as many are judged as were still free, and a right one beyond them is not looked at.
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { AccountRecord, RateRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { isUsable } from './account.ts';

export type Verdict = 'ok' | 'wrong' | 'blocked';

/** One submitted code. */
export interface Attempt {
  readonly accountId: string;
  /** The challenge: the interaction, or the session in a step-up. Never a value that the browser chooses. */
  readonly boundTo: string;
  /** As typed. */
  readonly code: string;
}

/**
 * Looks at the code and nothing else; called again when another writer was faster.
 * @returns the record as it is after a right code, undefined for a wrong one
 */
export type Evaluate = (record: AccountRecord) => AccountRecord | undefined;

export interface SecondFactorLimit {
  /** @param isRecovery whether it may be tried although the factors are off */
  judge(
    attempt: Pick<Attempt, 'accountId' | 'boundTo'>,
    evaluate: Evaluate,
    isRecovery?: boolean,
  ): Promise<Verdict>;
  /**
   * Counts a failure beforehand, for a code that is kept elsewhere than in the account.
   * @returns the account as counted; undefined when no more guesses are free
   */
  reserve(accountId: string): Promise<AccountRecord | undefined>;
  /** After a right code. */
  clear(accountId: string): Promise<void>;
}

export const MAX_WRONG_PER_CHALLENGE = 5;
const MAX_WRONG_PER_WINDOW = 10;
const WINDOW_MS = 600_000;
const MAX_WRONG_IN_A_ROW = 100;
// No interaction lives longer (settings: interaction_seconds).
const CHALLENGE_MS = 86_400_000;

/** Whether so many codes in a row were wrong that only a recovery code or an administrator brings the factors back. */
export const isSecondFactorOff = (account: Readonly<AccountRecord>): boolean =>
  (account.secondFactorFailures?.inARow ?? 0) >= MAX_WRONG_IN_A_ROW;

const recentFailures = (account: Readonly<AccountRecord>, now: number): number[] =>
  (account.secondFactorFailures?.recentAt ?? []).filter((at) => at > now - WINDOW_MS);

function isOpen(account: AccountRecord, now: number, isRecovery: boolean): boolean {
  // A lock or a deactivation stops the sign-in that is under way, too (checklist R089).
  if (!isUsable(account, now) || recentFailures(account, now).length >= MAX_WRONG_PER_WINDOW) return false;
  return isRecovery || !isSecondFactorOff(account);
}

const countWrong = (account: AccountRecord, now: number): AccountRecord => ({
  ...account,
  secondFactorFailures: {
    inARow: (account.secondFactorFailures?.inARow ?? 0) + 1,
    recentAt: [...recentFailures(account, now), now],
  },
});

function clearWrong(account: AccountRecord): AccountRecord {
  const { secondFactorFailures: _over, ...rest } = account;
  return rest;
}

export function createSecondFactorLimit(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  rates: EphemeralCollection<RateRecord>;
  clock: Clock;
}): SecondFactorLimit {
  const { accounts, rates, clock } = deps;

  /** @returns whether this challenge had a try left; it is taken then */
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

  async function judgeAndCount(accountId: string, evaluate: Evaluate, isRecovery: boolean) {
    const last: { verdict: Verdict } = { verdict: 'blocked' };
    const stored = await update(accounts, accountId, (record) => {
      const now = clock();
      last.verdict = 'blocked';
      if (!isOpen(record, now, isRecovery)) return undefined;
      const next = evaluate(record);
      last.verdict = next === undefined ? 'wrong' : 'ok';
      return { value: next === undefined ? countWrong(record, now) : clearWrong(next) };
    });
    return stored === undefined
      ? { verdict: 'blocked' as const, record: undefined }
      : { verdict: last.verdict, record: stored.value };
  }

  return {
    async judge({ accountId, boundTo }, evaluate, isRecovery = false) {
      // Looked at first without a write, so that a flood of refused guesses costs little and takes no tries.
      const stored = await accounts.find(accountId);
      if (stored === undefined || !isOpen(stored.value, clock(), isRecovery)) return 'blocked';
      const challenge = `second_factor ${secretDigest(JSON.stringify([accountId, boundTo]))}`;
      if (!(await takeTry(challenge))) return 'blocked';
      const { verdict } = await judgeAndCount(accountId, evaluate, isRecovery);
      if (verdict === 'ok') await rates.remove(challenge);
      return verdict;
    },
    async reserve(accountId) {
      const { verdict, record } = await judgeAndCount(accountId, () => undefined, false);
      return verdict === 'blocked' ? undefined : record;
    },
    async clear(accountId) {
      await update(accounts, accountId, (record) =>
        record.secondFactorFailures === undefined ? undefined : { value: clearWrong(record) },
      );
    },
  };
}
