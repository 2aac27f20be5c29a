// Owns putting together what has to do with keys: the signing keys and their rotation, and sealing everything anew after
// a change of SECRET_KEY (create-app.ts builds the rest).
import { resealReplies } from '../admin/api/reseal-replies.ts';
import type { Audit } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Job } from '../jobs/scheduler.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import { resealSecrets } from '../keys/reseal-job.ts';
import { rotateKeys } from '../keys/rotation-job.ts';
import type { Sealer } from '../keys/sealing.ts';
import { createSigningKeys, type KeySet, type KeyView, type RotationMode } from '../keys/signing-keys.ts';
import type { Logger } from '../log.ts';
import { resealMails } from '../mail/reseal-mails.ts';
import { resealTotp } from '../second-factors/reseal-totp.ts';
import { resealSettings } from '../settings/reseal-settings.ts';
import type { SettingValues } from '../settings/schema.ts';
import { idempotencyKeys } from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import type { ResealFigures } from '../store/reseal.ts';

interface Parts {
  readonly config: Pick<Config, 'secretKeys'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sealer: Sealer;
  readonly audit: Pick<Audit, 'note'>;
  readonly current: () => SettingValues;
}

/** What administrators and scripts do with keys. */
export interface Keys {
  /** The next one first, then the current one, then those that are still shown. */
  list(): Promise<KeyView[]>;
  /** In force here when it resolves, as far as it is due; in other processes within a second. */
  rotate(mode: RotationMode): Promise<void>;
  /** Seals everything anew that an older SECRET_KEY sealed. */
  reseal(signal: AbortSignal): Promise<ResealFigures>;
}

export interface KeyParts {
  readonly keys: Keys;
  readonly jobs: readonly Job[];
  /** The set to begin with. */
  load(): Promise<KeySet>;
  /** From then on keeps up with what other processes do. @param use takes a new set into use */
  follow(first: KeySet, use: (set: KeySet) => Promise<void>): Pick<Keyring, 'ready'>;
}

export function createKeys(parts: Parts): KeyParts {
  const { config, store, clock, log, sealer, audit, current } = parts;
  let keyring: Keyring | undefined;
  const signingKeys = createSigningKeys({
    collection: store.collection(model.signingKeys),
    sealer,
    clock,
    onActivated(kid, before) {
      log.info({ kid, before }, 'a new signing key is in use');
      audit.note({
        event: 'key.rotated',
        actor: { kind: 'system' },
        target: { kind: 'key', id: kid },
        details: { ...(before !== undefined && { before }) },
      });
    },
  });

  async function reseal(signal: AbortSignal): Promise<ResealFigures> {
    const all = [
      await signingKeys.reseal(),
      await resealSettings({ collection: store.collection(model.settings), sealer }),
      await resealTotp({ collection: store.collection(model.accounts), sealer }, signal),
      await resealMails({ collection: store.collection(model.mails), sealer }, signal),
      await resealReplies({ collection: store.collection(idempotencyKeys), sealer }, signal),
    ];
    return {
      resealed: all.reduce((sum, { resealed }) => sum + resealed, 0),
      unreadable: all.reduce((sum, { unreadable }) => sum + unreadable, 0),
    };
  }

  const schedule = rotateKeys({
    rotationSeconds: () => current().key_rotation_seconds,
    async advance(rotationSeconds) {
      const figures = await signingKeys.advance(rotationSeconds);
      // Our own writes don't show in the store's stamp.
      if (figures.published + figures.activated > 0) await keyring?.reload();
      return figures;
    },
  });

  return {
    keys: {
      list: signingKeys.list,
      async rotate(mode) {
        await signingKeys.rotate(mode);
        await keyring?.reload();
      },
      reseal,
    },
    jobs: [schedule, ...(config.secretKeys.length > 1 ? [resealSecrets(reseal)] : [])],
    load: signingKeys.load,
    follow(first, use) {
      keyring = createKeyring({
        keys: signingKeys,
        first,
        use,
        stamp: () => store.stamp(),
        clock,
        onProblem: (error) => log.warn({ err: error }, 'signing keys not looked at'),
      });
      return keyring;
    },
  };
}

/** A key set as the protocol core takes it. */
export const protocolKeys = (keySet: KeySet) => ({
  currentPrivateJwk: keySet.current.privateJwk,
  publicJwks: keySet.all,
  jwks: keySet.jwks(),
});
