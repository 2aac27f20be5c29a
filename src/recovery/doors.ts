import type { Accounts, CompleteSignIn } from '../accounts/index.ts';
import type { Base } from '../base.ts';
import type { Mail } from '../mail/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';

export interface RecoveryDoors extends Base {
  readonly accounts: Accounts;
  readonly signIns: CompleteSignIn;
  readonly mail: Mail;
  readonly limits: RateLimits;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
}
