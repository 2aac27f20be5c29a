// Scheduled rotation of signing keys. Rotation on an administrator's request is in src/admin/resources/keys/resource.ts.
import type { Figures, Job } from '../jobs/index.ts';

export interface RotateKeysOptions {
  /** Takes the next step of the rotation if it is due. @param rotationSeconds 0: no scheduled rotation */
  readonly advance: (rotationSeconds: number) => Promise<{ published: number; activated: number }>;
  readonly rotationSeconds: () => number;
}

/** In a process that serves requests a due step is taken within a second. */
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
