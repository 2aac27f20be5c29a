// Programs that strangers bring (decision 0026): how they come in, and when they are removed. What holds for their clients is one
// table of the application registry (src/clients/quarantine.ts).
import { AppError } from '../errors.ts';
import type { Job } from '../jobs/index.ts';
import { createDocuments, type Documents, type FetchDocument } from './documents.ts';
import type { AgentDoors } from './doors.ts';
import { forgetUnused } from './forget-unused-job.ts';
import { createNameProblem } from './taken-names.ts';

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

export function createAgents(doors: AgentDoors, fetchDocument: FetchDocument): Agents {
  const { quarantined, events, settings, limits } = doors;
  // Nothing waits for it; the next use tries again.
  events.on('quarantinedUsed', ({ clientId }) => void quarantined.noteUse(clientId).catch(() => undefined));
  const nameProblem = createNameProblem(doors);
  return {
    documents: createDocuments(doors, fetchDocument, nameProblem),
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
    jobs: [forgetUnused(doors)],
  };
}
