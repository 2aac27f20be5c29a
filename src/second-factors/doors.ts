import type { Accounts } from '../accounts/index.ts';
import type { Base } from '../base.ts';
import type { Mail } from '../mail/index.ts';

export interface SecondFactorDoors extends Base {
  readonly accounts: Accounts;
  readonly mail: Mail;
}
