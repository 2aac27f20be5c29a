// Re-encrypts with the newest SECRET_KEY; there is work only while several keys are listed. Hourly, because a process that
// still has the old list may seal with the older key for a while.
import type { Figures, Job } from '../jobs/index.ts';
import type { ResealFigures } from '../store/reseal.ts';

const INTERVAL_SECONDS = 3600;

export function resealSecrets(reseal: (signal: AbortSignal) => Promise<ResealFigures>): Job {
  return {
    name: 'reseal_secrets',
    intervalSeconds: () => INTERVAL_SECONDS,
    async run(signal): Promise<Figures> {
      const { resealed, unreadable } = await reseal(signal);
      return { secrets_resealed: resealed, secrets_unreadable: unreadable };
    },
  };
}
