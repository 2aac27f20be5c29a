// What an account stores about failed guesses of its password and codes. It is part of the account's document: read with
// it, counted by compare-and-set, and deleted with it.

/** Wrong codes of one kind. */
export interface CodeFailures {
  inARow: number;
  /** Epoch milliseconds. */
  recentAt: number[];
}

/** A browser in which a sign-in to this account has been completed. */
export interface KnownBrowser {
  /** Of the random value in the browser's cookie. */
  digest: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Wrong passwords in this browser since then. */
  failures: number;
  /** Wrong codes of a second factor. */
  codeFailures?: number;
}

export interface GuessCounters {
  /** Wrong passwords from unknown browsers since the last complete sign-in. */
  failedLoginAttempts: number;
  /** How often this locked password sign-in; the number of further attempts is derived from it. */
  lockCount: number;
  /** Until then no password is accepted from an unknown browser. */
  lockedUntil?: number;
  /** When the last lockout began, and when the owner was last notified of one. */
  guessedAt?: number;
  guessNoticeAt?: number;
  /** Newest first; absent: none. */
  knownBrowsers?: KnownBrowser[];
  /** Wrong codes of each kind since the last valid one, over all challenges, and the times of the latest ones. */
  codeFailures?: { totp?: CodeFailures; email?: CodeFailures; recovery?: CodeFailures };
  /** The same in a single counter, as written by earlier releases. */
  secondFactorFailures?: CodeFailures;
}
