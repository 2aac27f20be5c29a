import type { Accounts } from '../accounts/index.ts';
import type { Base } from '../base.ts';
import type { Clients } from '../clients/index.ts';
import type { Mail } from '../mail/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Recovery } from '../recovery/index.ts';

export interface RegistrationDoors extends Base {
  readonly accounts: Accounts;
  readonly clients: Clients;
  readonly mail: Mail;
  readonly limits: RateLimits;
  readonly recovery: Recovery;
}
