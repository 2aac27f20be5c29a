import type { Base } from '../base.ts';
import type { Clients, Quarantined } from '../clients/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';

export interface AgentDoors extends Base {
  readonly clients: Clients;
  readonly quarantined: Quarantined;
  readonly limits: RateLimits;
}
