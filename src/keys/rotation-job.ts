// Owns the rotation of signing keys by schedule. Changes that administrators ask for are
// src/admin/resources/keys/routes.ts.
import type { Figures, Job } from '../jobs/scheduler.ts';

export interface RotateKeysOptions {
  /** Takes the step that is due, if any. @param rotationSeconds 0: none by schedule */
  readonly advance: (rotationSeconds: number) => Promise<{ published: number; activated: number }>;
  readonly rotationSeconds: () => number;
}

/** A step is due to the minute; in a process that serves requests it is taken at the second. */
const INTERVAL_SECONDS = 60;

export function rotateKeys({ advance, rotationSeconds }: RotateKeysOptions): Job {
  return {
    name: 'rotate_keys',
    intervalSeconds: () => INTERVAL_SECONDS,
    async run(): Promise<Figures> {
      const { published, activated } = await advance(rotationSeconds());
      return { keys_published: published, keys_activated: activated };
    },
  };
}
