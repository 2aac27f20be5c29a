// Owns the signing keys of this process: the set that holds now, kept up with what other processes do. Looking is cheap
// enough to be done before every request; it reads at most twice a second, and only if another process may have written.
import type { Clock } from '../clock.ts';
import type { KeySet, SigningKeys } from './signing-keys.ts';

export interface Keyring {
  /**
   * To be called before a request. @returns what to wait for, undefined when there is nothing: what holds is good until
   * something better is known, so it never rejects, and while the store is away nobody waits
   */
  ready(): Promise<void> | undefined;
  /** What the store has now, whatever was seen last. @throws StoreUnavailable */
  reload(): Promise<void>;
}

const namesOf = ({ all }: KeySet): string => all.map(({ kid }) => kid).join();

/**
 * @param deps.first the set that is in use already
 * @param deps.use takes another set into use
 * @param deps.stamp the store's own: a number that differs when another process may have written; undefined if unknown
 * @param deps.minMs how old the set may be at most
 */
export function createKeyring(deps: {
  keys: Pick<SigningKeys, 'load'>;
  first: KeySet;
  use: (set: KeySet) => Promise<void>;
  stamp: () => number | undefined;
  clock: Clock;
  onProblem: (error: unknown) => void;
  minMs?: number;
}): Keyring {
  const { keys, use, stamp, clock, onProblem, minMs = 500 } = deps;
  let held = deps.first;
  let seen = { stamp: stamp(), at: clock() };
  let reading: Promise<void> | undefined;
  let isTroubled = false;

  function isStale(): boolean {
    const now = clock();
    if (Math.abs(now - seen.at) < minMs) return false;
    const stamped = stamp();
    // After a look in vain the stamp says nothing: what it had announced was not read.
    return isTroubled || stamped === undefined || stamped !== seen.stamp || now >= held.changesAt;
  }

  async function look(): Promise<void> {
    // Taken before the read: a write that comes in between makes the next call read again.
    seen = { stamp: stamp(), at: clock() };
    try {
      const set = await keys.load();
      if (namesOf(set) !== namesOf(held)) await use(set);
      held = set;
      isTroubled = false;
    } catch (error) {
      isTroubled = true;
      throw error;
    }
  }

  function readOnce(): Promise<void> {
    reading ??= look().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    ready() {
      if (reading === undefined && isStale()) {
        void readOnce().catch(onProblem);
      }
      return isTroubled ? undefined : reading?.catch(() => undefined);
    },
    async reload() {
      // A read that is under way may have begun before what we must see.
      await reading?.catch(() => undefined);
      await readOnce();
    },
  };
}
