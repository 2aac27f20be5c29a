// Client secrets at rest: digests only, compared in constant time.
import { timingSafeEqual } from 'node:crypto';
import type { ClientRecord } from '../store/collections.ts';

export type SecretDigest = (secret: string) => string;
export type StoredSecret = ClientRecord['secrets'][number];

/** 256 bits cannot be guessed, so plain SHA-256 is enough at rest. */
export const SECRET_BYTES = 32;

/** @returns whether two digests are the same, in constant time for digests of one length */
export function isSameDigest(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** @returns whether the presented secret is valid at `now`; always compares with all stored ones */
export function isSecretOf(
  record: Pick<ClientRecord, 'secrets'>,
  presented: string,
  now: number,
  secretDigest: SecretDigest,
): boolean {
  const digest = secretDigest(presented);
  let isMatch = false;
  for (const secret of record.secrets) {
    const isLive = secret.expiresAt === undefined || secret.expiresAt > now;
    if (isSameDigest(secret.digest, digest) && isLive) isMatch = true;
  }
  return isMatch;
}

/**
 * @param overlapSeconds how long the newest previous secret stays valid; 0: it ends at once
 * @returns the secrets to store: the new one, and at most one previous one with its expiry
 */
export function rotated(
  secrets: readonly StoredSecret[],
  digest: string,
  now: number,
  overlapSeconds: number,
): StoredSecret[] {
  const isLive = (secret: StoredSecret): boolean => secret.expiresAt === undefined || secret.expiresAt > now;
  const newest = secrets.filter(isLive).sort((a, b) => b.createdAt - a.createdAt)[0];
  const fresh: StoredSecret = { digest, createdAt: now };
  if (newest === undefined || overlapSeconds <= 0) return [fresh];
  const expiresAt = Math.min(newest.expiresAt ?? Number.MAX_SAFE_INTEGER, now + overlapSeconds * 1000);
  return [fresh, { ...newest, expiresAt }];
}
