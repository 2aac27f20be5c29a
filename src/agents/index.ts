// Programs that strangers bring (decisions §10): how they come in, and when they are removed. What holds for their clients is one
// table of the application registry (src/clients/quarantine.ts).
import type { Clients, Quarantined } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Events } from '../events/index.ts';
import type { Job } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { createDocuments, type Documents, type FetchDocument } from './documents.ts';
import { forgetUnused } from './forget-unused-job.ts';
import { createNameProblem } from './taken-names.ts';

interface Deps {
  readonly clients: Clients;
  readonly quarantined: Quarantined;
  readonly fetchDocument: FetchDocument;
  readonly settings: () => {
    readonly agents: boolean;
    readonly product_name: string;
    readonly purge_interval_seconds: number;
  };
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info'>;
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
  /** What such a client calls itself. @throws AppError client.invalid_metadata */
  checkName(name: unknown): Promise<void>;
  readonly documents: Documents;
  readonly jobs: readonly Job[];
}

export function createAgents({ clients, quarantined, events, ...deps }: Deps): Agents {
  const { settings, limits } = deps;
  // Nothing waits for it; the next use tries again.
  events.on('quarantinedUsed', ({ clientId }) => void quarantined.noteUse(clientId).catch(() => undefined));
  const nameProblem = createNameProblem({ clients, settings });
  return {
    documents: createDocuments({ ...deps, clients, quarantined, nameProblem }),
    async checkName(name) {
      const problem = typeof name === 'string' ? await nameProblem(name) : undefined;
      if (problem !== undefined)
        throw new AppError('client.invalid_metadata', { fields: { client_name: problem } });
    },
    async admitStranger(address) {
      if (!settings().agents) return false;
      await limits.consume('agents_ip', address);
      await quarantined.makeRoom();
      return true;
    },
    jobs: [forgetUnused({ quarantined, intervalSeconds: () => settings().purge_interval_seconds })],
  };
}
