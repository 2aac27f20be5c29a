// The signed-in administrator or auditor.
import type { Account, AdminAccess } from '../../accounts/index.ts';

/** The user of this browser's SSO session, read from the store for this request. */
export interface BrowserUser {
  readonly sessionUid: string;
  /** Whether the sign-in is recent enough for a sensitive act (decision 0011). */
  readonly isFresh: boolean;
  /** Whether the user authenticated with two factors, if the account has them or the settings require them (decision 0002). */
  readonly hasUsedFactors: boolean;
  /** The strongest authentication available to the account; undefined: its password. */
  readonly strongestAcr: string | undefined;
  readonly account: {
    readonly id: string;
    readonly username: string;
    readonly role: string;
    readonly avatarId?: string | undefined;
    readonly email?: string | undefined;
    readonly totpVerified: boolean;
    /** What they are called, and the language that they chose for their account. */
    readonly profile: Account['profile'];
  };
}

export interface SignedInAdmin extends BrowserUser {
  /** The access of the user's current role; undefined: none, whatever the role was at sign-in. */
  readonly access: AdminAccess | undefined;
}
