// Keys: the signing keys of the protocol with their rotation, and sealing of secrets at rest (decision 0019). It owns which
// key signs, what the JWKS shows, and the sealer; what is sealed, and for what purpose, each domain owns.
// Start with signing-keys.ts (states of a key), keyring.ts (following other processes) and sealing.ts.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Job } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import type { Reseal } from '../store/reseal.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { rotateKeys } from './rotation-job.ts';
import type { Sealer } from './sealing.ts';
import { createSigningKeys, type KeySet, type KeyView, type RotationMode } from './signing-keys.ts';

export { createResealing, type Resealing } from './resealing.ts';
export { createSealer, type Sealer } from './sealing.ts';
export type { KeySet, KeyView, RotationMode } from './signing-keys.ts';

/** What administrators and scripts do with signing keys. */
export interface Keys {
  /** The next key first, then the current one, then retired ones that are still shown. */
  list(): Promise<KeyView[]>;
  /** In force in this process when it resolves, as far as it is due; in others within a second. */
  rotate(mode: RotationMode): Promise<void>;
}

export interface KeysInUse extends Keys {
  /**
   * Takes the current set into use, and from then on every set that this or another process puts in its place.
   * @throws SigningKeyUnreadable, StoreUnavailable
   */
  start(use: (set: KeySet) => Promise<void>): Promise<void>;
  /** To be awaited before a request or a job, where there is something to wait for; it never rejects. */
  ready: Keyring['ready'];
  readonly jobs: readonly Job[];
  readonly reseal: Reseal;
}

interface Deps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly settings: () => { readonly key_rotation_seconds: number };
  readonly events: Pick<Events, 'note'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export function createKeys({ store, sealer, clock, settings, events, log }: Deps): KeysInUse {
  let keyring: Keyring | undefined;
  const signingKeys = createSigningKeys({
    collection: store.collection(model.signingKeys),
    sealer,
    clock,
    onActivated(kid, before) {
      log.info({ kid, before }, 'a new signing key is in use');
      events.note({
        event: 'key.rotated',
        actor: { kind: 'system' },
        target: { kind: 'key', id: kid },
        details: { ...(before !== undefined && { before }) },
      });
    },
  });

  const rotation = rotateKeys({
    rotationSeconds: () => settings().key_rotation_seconds,
    async advance(rotationSeconds) {
      const figures = await signingKeys.advance(rotationSeconds);
      // This process's own writes don't show in the store's stamp.
      if (figures.published + figures.activated > 0) await keyring?.reload();
      return figures;
    },
  });

  return {
    list: signingKeys.list,
    async rotate(mode) {
      await signingKeys.rotate(mode);
      await keyring?.reload();
    },
    async start(use) {
      const first = await signingKeys.load();
      await use(first);
      keyring = createKeyring({
        keys: signingKeys,
        first,
        use,
        stamp: () => store.stamp(),
        clock,
        onProblem: (error) => log.warn({ err: error }, 'signing keys could not be read'),
      });
    },
    ready: () => keyring?.ready(),
    jobs: [rotation],
    reseal: () => signingKeys.reseal(),
  };
}
