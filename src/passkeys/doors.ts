import type { Accounts } from '../accounts/index.ts';
import type { Base } from '../base.ts';

export interface PasskeyDoors extends Base {
  readonly accounts: Accounts;
}
