// Programs that strangers bring (decisions §10): how they come in, and when they are removed. What holds for their clients is one
// table of the application registry (src/clients/quarantine.ts).
import type { Quarantined } from '../clients/index.ts';
import type { Events } from '../events/index.ts';
import type { Job } from '../jobs/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { forgetUnused } from './forget-unused-job.ts';

interface Deps {
  readonly clients: { readonly quarantined: Quarantined };
  readonly settings: () => { readonly agents: boolean; readonly purge_interval_seconds: number };
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'on'>;
}

export interface Agents {
  /**
   * Called before a client is registered without a token.
   * @returns whether anyone may
   * @throws AppError request.rate_limited
   */
  admitStranger(address: string): Promise<boolean>;
  readonly jobs: readonly Job[];
}

export function createAgents({ clients: { quarantined }, settings, limits, events }: Deps): Agents {
  // Nothing waits for it; the next use tries again.
  events.on('quarantinedUsed', ({ clientId }) => void quarantined.noteUse(clientId).catch(() => undefined));
  return {
    async admitStranger(address) {
      if (!settings().agents) return false;
      await limits.consume('agents_ip', address);
      await quarantined.makeRoom();
      return true;
    },
    jobs: [forgetUnused({ quarantined, intervalSeconds: () => settings().purge_interval_seconds })],
  };
}
