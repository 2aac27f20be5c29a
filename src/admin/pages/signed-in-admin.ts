// The signed-in administrator or auditor, as pages know them.
import type { AdminAccess } from '../../accounts/index.ts';

/** The user of this browser's SSO session, read from the store for this request. */
export interface BrowserUser {
  readonly sessionUid: string;
  /** Whether they may do a sensitive act (decisions §8). */
  readonly isFresh: boolean;
  /** Whether they used two factors, where they have them or the settings want them (decisions §2). */
  readonly hasUsedFactors: boolean;
  /** The most that their account can be asked for; undefined: its password. */
  readonly strongestAcr: string | undefined;
  readonly account: {
    readonly id: string;
    readonly username: string;
    readonly role: string;
    readonly email?: string | undefined;
    readonly totpVerified: boolean;
  };
}

export interface SignedInAdmin extends BrowserUser {
  /** What their role opens now; undefined: nothing, whatever they were when they came in. */
  readonly access: AdminAccess | undefined;
}
