// What was authenticated in a sign-in, as its steps say it to each other.
import type { WayToSignIn } from '../src/model/ways-to-sign-in.ts';

/** The authentication of a sign-in after one more step. */
export interface Authentication {
  /** All methods so far (RFC 8176). */
  readonly amr: readonly string[];
  /** The methods of this step; none: the user only continued. */
  readonly methods: readonly WayToSignIn[];
  /**
   * Epoch milliseconds of the sign-in's first authentication; default: now. A later change of the account invalidates
   * it.
   */
  readonly provenAt?: number | undefined;
}

/** What a browser may remember of a sign-in. */
export interface CompletedSignIn {
  readonly amr: readonly string[];
  /** A passkey was created on the way. */
  readonly isPasskeyNew: boolean;
  /** The person asked for it. */
  readonly isRemembered: boolean;
}
