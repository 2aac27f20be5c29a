// The signing keys of this process, kept up to date with other processes. Checking is cheap enough for every request; the
// store is read at most twice a second, and only if another process may have written.
import type { Clock } from '../clock.ts';
import type { KeySet, SigningKeys } from './signing-keys.ts';

export interface Keyring {
  /**
   * Call before a request. @returns a promise to wait for, or undefined. Never rejects: the present keys stay in use until
   * newer ones are loaded, and requests do not wait while the store is unavailable
   */
  ready(): Promise<void> | undefined;
  /** Loads the keys from the store, whatever was loaded before. @throws StoreUnavailable */
  reload(): Promise<void>;
}

const namesOf = ({ all }: KeySet): string => all.map(({ kid }) => kid).join();

/**
 * @param deps.first the set in use at the start
 * @param deps.use takes another set into use
 * @param deps.stamp of the store: a number that differs when another process may have written; undefined if unknown
 * @param deps.minMs minimum time between two checks
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
  let current = deps.first;
  let checked = { stamp: stamp(), at: clock() };
  let loading: Promise<void> | undefined;
  let hasFailed = false;

  function mustLoad(): boolean {
    const now = clock();
    if (Math.abs(now - checked.at) < minMs) return false;
    const stamped = stamp();
    // After a failed load the stamp says nothing: the change it announced was not loaded.
    const isStale =
      hasFailed || stamped === undefined || stamped !== checked.stamp || now >= current.changesAt;
    // Not at every request from now on.
    if (!isStale) checked = { stamp: stamped, at: now };
    return isStale;
  }

  async function load(): Promise<void> {
    // Taken before the read: a write in between makes the next call read again.
    checked = { stamp: stamp(), at: clock() };
    try {
      const set = await keys.load();
      if (namesOf(set) !== namesOf(current)) await use(set);
      current = set;
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }

  function loadOnce(): Promise<void> {
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  return {
    ready() {
      if (loading === undefined && mustLoad()) {
        void loadOnce().catch(onProblem);
      }
      return hasFailed ? undefined : loading?.catch(() => undefined);
    },
    async reload() {
      // A read in progress may have started before the change that must be loaded.
      await loading?.catch(() => undefined);
      await loadOnce();
    },
  };
}
