// Sealing everything again with the newest SECRET_KEY that an older one sealed. Each domain says what it sealed; this calls
// them one after another, from a script or, while several keys are listed, as a job.
import type { Job } from '../jobs/index.ts';
import type { Store } from '../store/port.ts';
import type { Reseal, ResealFigures, ResealRun } from '../store/reseal.ts';
import { resealSecrets } from './reseal-job.ts';
import type { Sealer } from './sealing.ts';

export interface Resealing {
  run(run: ResealRun): Promise<ResealFigures>;
  readonly jobs: readonly Job[];
}

interface Deps {
  readonly store: Store;
  readonly sealer: Sealer;
  /** Newest first. */
  readonly secretKeys: readonly string[];
  readonly domains: readonly Reseal[];
}

export function createResealing({ store, sealer, secretKeys, domains }: Deps): Resealing {
  async function run(watched: ResealRun): Promise<ResealFigures> {
    let [resealed, unreadable] = [0, 0];
    for (const reseal of domains) {
      const figures = await reseal({ store, sealer }, watched);
      resealed += figures.resealed;
      unreadable += figures.unreadable;
    }
    return { resealed, unreadable };
  }

  return { run, jobs: secretKeys.length > 1 ? [resealSecrets(run)] : [] };
}
