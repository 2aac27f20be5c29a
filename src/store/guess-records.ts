// Owns the shape of what an account keeps about guesses of its password and its codes. All of it is in the account's own
// document: it is read with the account, counted by compare-and-set, and gone when the account is (checklist R075, R090).

/** Wrong codes of one kind. */
export interface CodeFailures {
  inARow: number;
  /** Epoch milliseconds. */
  recentAt: number[];
}

/** A browser in which a sign-in to this account was completed. */
export interface KnownBrowser {
  /** Of the random value in the browser's cookie. */
  digest: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Wrong passwords in this browser since then. */
  failures: number;
}

export interface GuessCounters {
  /** Wrong passwords from browsers that are not known, since the last complete sign-in. */
  failedLoginAttempts: number;
  /** How often these closed password sign-in; how many more are granted follows from it. */
  lockCount: number;
  /** Until then no password is taken from a browser that is not known. */
  lockedUntil?: number;
  /** When they last closed it, and when the owner was last told by mail. */
  guessedAt?: number;
  guessNoticeAt?: number;
  /** The latest first; absent: none. */
  knownBrowsers?: KnownBrowser[];
  /** Wrong codes of each kind since the last valid one, over all challenges; when the latest were. */
  codeFailures?: { totp?: CodeFailures; email?: CodeFailures; recovery?: CodeFailures };
  /** The same, written by releases with one counter for all kinds. */
  secondFactorFailures?: CodeFailures;
}
