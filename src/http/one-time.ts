// Values stored between two requests of a browser and read once: a new secret for the page that shows it, or a form
// that a sign-in interrupted. They are sealed, limited in size and time, and found only by their
// key, which names the session or browser that they belong to. They never appear in an address.
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { Sealer } from '../keys/index.ts';
import type { OneTimeRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';

export interface OneTime {
  /**
   * Replaces the value under the same key.
   * @param key the session or browser, and the purpose
   * @returns false if the value is too large
   */
  keep(key: readonly string[], value: object, seconds: number): Promise<boolean>;
  /** @returns undefined if there is none, it expired, or it was read before */
  take(key: readonly string[]): Promise<object | undefined>;
  /** Reads what stays until it expires, such as a form while it is filled in. */
  peek(key: readonly string[]): Promise<object | undefined>;
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

  function opened(id: string, sealed: string): object | undefined {
    const value: unknown = JSON.parse(sealer.open(purposeOf(id), sealed));
    return typeof value === 'object' && value !== null ? value : undefined;
  }

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
      // Of several concurrent requests, one gets it.
      if (found === undefined || !(await collection.remove(id))) return undefined;
      return opened(id, found.value.sealed);
    },

    async peek(key) {
      const id = idOf(key);
      const found = await collection.find(id);
      return found && opened(id, found.value.sealed);
    },
  };
}
