// Owns identifiers and random secrets. Randomness comes from node:crypto alone.
import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** @returns a new UUID (version 4), as user, group and session ids have it */
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
export const secretDigest = (secret: string): string =>
  createHash('sha256').update(secret, 'utf8').digest('base64url');
