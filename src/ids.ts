// Identifiers and random secrets.
import { hash, randomBytes, randomUUID } from 'node:crypto';

/** @returns a new UUID (version 4), for user, group and session ids */
export const newId = (): string => randomUUID();

/**
 * @param bytes amount of randomness; 32 bytes (256 bits) cannot be guessed or searched
 * @returns a base64url string safe in URLs, cookies and headers
 */
export const newSecret = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/**
 * The stored form of a high-entropy secret. SHA-256 is enough here: the input has 256 random bits, so there
 * is nothing to search (passwords, which can be guessed, go through argon2id instead).
 */
export const secretDigest = (secret: string): string => hash('sha256', secret, 'base64url');

/**
 * UUIDs version 7 (RFC 9562 §5.7, §6.2 method 1): as text they sort by creation time. Each id of one generator is greater
 * than all its earlier ones, also within a millisecond and when the clock is set back.
 * @param clock epoch milliseconds
 */
export function createTimeSortedIds(clock: () => number): () => string {
  let at = 0;
  let count = 0;
  return () => {
    const now = clock();
    count = now > at ? 0 : count + 1;
    at = Math.max(at, now);
    // 12 bits of counter; beyond them the ids run a millisecond ahead.
    if (count > 0xfff) {
      at += 1;
      count = 0;
    }
    const time = at.toString(16).padStart(12, '0');
    const random = randomBytes(8).toString('hex');
    const variant = (8 + (Number.parseInt(random.slice(0, 1), 16) & 3)).toString(16);
    const low = variant + random.slice(1, 4);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${low}-${random.slice(4)}`;
  };
}
