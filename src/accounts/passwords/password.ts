// Password hashing: argon2id with the parameters in the hash (decision 0014), and a limit on
// concurrent hashes. password-rules.ts decides which passwords are accepted.
import {
  hash as argon2Hash,
  argon2id,
  needsRehash as argon2NeedsRehash,
  verify as argon2Verify,
  type HashOptions,
} from 'argon2';
import { newSecret } from '../../ids.ts';
import { createSharedQueue, type TurnPath } from '../../rate-limits/index.ts';
import { isForeignHash, verifyForeignHash } from './foreign-hash.ts';

export interface HashParameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** As long as users and proxies wait. */
const MAX_WAIT_MS = 8000;

/** 19 MiB, two passes, one lane: OWASP's minimum for argon2id, about 30 ms of one core. */
export const defaultHashParameters: HashParameters = { memoryKib: 19_456, passes: 2, lanes: 1 };

export interface PasswordCheck {
  readonly isValid: boolean;
  /** The password matches, but its hash has other parameters than today's. */
  readonly needsRehash: boolean;
}

export interface Passwords {
  /** @returns a PHC string. @throws AppError server.busy */
  hash(password: string): Promise<string>;
  /**
   * Without a hash, does the same work against a dummy hash, so that the time does not reveal which accounts exist.
   * @throws AppError server.busy
   */
  verify(hash: string | undefined, password: string): Promise<PasswordCheck>;
}

const phcShape = /^\$argon2(?:id|i|d)\$v=\d+\$[a-z]=\d+(?:,[a-z]=\d+){0,3}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

/**
 * The only normalization of passwords: the same characters on another keyboard give the same text.
 */
const normalize = (password: string): string => password.normalize('NFKC');

/**
 * @param deps.maxInFlight concurrent hashes; the number of cores (they share the thread pool with RSA)
 * @param deps.maxQueued how many may wait; more are refused
 * @param deps.whoAsks the networks that the hash is for: no network's flood takes the turns of others; default: all are one
 */
export function createPasswords(deps: {
  parameters?: HashParameters;
  maxInFlight: number;
  maxQueued: number;
  whoAsks?: () => TurnPath;
}): Passwords {
  const { memoryKib, passes, lanes } = deps.parameters ?? defaultHashParameters;
  const options: HashOptions = {
    type: argon2id,
    memoryCost: memoryKib,
    timeCost: passes,
    parallelism: lanes,
  };
  const queue = createSharedQueue({ ...deps, maxWaitMs: MAX_WAIT_MS });
  const { whoAsks = () => [] } = deps;
  let dummy: Promise<string> | undefined;

  // Prepared at the first check, for any name, and prepared again if that failed (out of memory, for example).
  const dummyHash = (): Promise<string> => {
    dummy ??= argon2Hash(newSecret(), options).catch((error: unknown) => {
      dummy = undefined;
      throw error;
    });
    return dummy;
  };

  return {
    hash: (password) => queue.run(whoAsks(), () => argon2Hash(normalize(password), options)),
    verify: (stored, password) =>
      queue.run(whoAsks(), async () => {
        const fallback = await dummyHash();
        if (stored !== undefined && isForeignHash(stored)) {
          const isValid = await verifyForeignHash(stored, password);
          // A wrong password takes at least as long as with our own parameters.
          if (!isValid) await argon2Verify(fallback, normalize(password));
          return { isValid, needsRehash: isValid };
        }
        const isReadable = stored !== undefined && phcShape.test(stored);
        const tried = isReadable ? stored : fallback;
        const normalized = normalize(password);
        const isMatch = await argon2Verify(tried, normalized);
        // Other systems hash what was typed.
        const isAsTyped = !isMatch && normalized !== password && (await argon2Verify(tried, password));
        if (!isReadable || !(isMatch || isAsTyped)) return { isValid: false, needsRehash: false };
        const isOld = isAsTyped || !stored.startsWith('$argon2id$') || argon2NeedsRehash(stored, options);
        return { isValid: true, needsRehash: isOld };
      }),
  };
}
