// Owns what is kept for a browser between two of its requests and read once: a new secret on its way to the page that shows
// it, a form that met a sign-in. Sealed (checklist R141), bounded in size and time, and found only with the key it was kept
// under, which names the session or browser it belongs to. It never travels in an address.
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { OneTimeRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';

export interface OneTime {
  /**
   * Replaces what was kept under the same key. @param key whose it is, and which one
   * @returns false when it is too large to be kept
   */
  keep(key: readonly string[], value: object, seconds: number): Promise<boolean>;
  /** @returns undefined when there is none, it expired, or it was taken before */
  take(key: readonly string[]): Promise<object | undefined>;
}

interface Deps {
  readonly collection: EphemeralCollection<OneTimeRecord>;
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  readonly clock: Clock;
}

const MAX_LENGTH = 256 * 1024;

export function createOneTime({ collection, sealer, clock }: Deps): OneTime {
  const idOf = (key: readonly string[]): string => secretDigest(JSON.stringify(['one time', ...key]));
  const purposeOf = (id: string): string => `one-time ${id}`;

  return {
    async keep(key, value, seconds) {
      const text = JSON.stringify(value);
      if (text.length > MAX_LENGTH) return false;
      const id = idOf(key);
      const record = { sealed: sealer.seal(purposeOf(id), text) };
      await collection.put(id, record, { expiresAt: clock() + seconds * 1000 });
      return true;
    },

    async take(key) {
      const id = idOf(key);
      const found = await collection.find(id);
      // Of several at once, one gets it.
      if (found === undefined || !(await collection.remove(id))) return undefined;
      const value: unknown = JSON.parse(sealer.open(purposeOf(id), found.value.sealed));
      return typeof value === 'object' && value !== null ? value : undefined;
    },
  };
}
