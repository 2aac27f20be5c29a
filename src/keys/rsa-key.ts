// A signing key: RSA-2048 for RS256, identified by its RFC 7638 thumbprint, so that its `kid` is the same in every process.
import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { texts } from './jwk-members.ts';

export type PublicJwk = JWK & { kty: 'RSA'; n: string; e: string; kid: string; alg: 'RS256'; use: 'sig' };
export type PrivateJwk = PublicJwk & { d: string; p: string; q: string; dp: string; dq: string; qi: string };

const generateRsa = promisify(generateKeyPair);

/** In the thread pool, because it takes a tenth of a second or more. */
export async function generateRsaKey(): Promise<JsonWebKey> {
  const { privateKey } = await generateRsa('rsa', { modulusLength: 2048, publicExponent: 0x10001 });
  return privateKey.export({ format: 'jwk' });
}

/** @throws TypeError when it is not an RSA key */
export async function toPublicJwk(jwk: object): Promise<PublicJwk> {
  const material = texts(jwk, ['n', 'e']);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', ...material });
  return { kty: 'RSA', use: 'sig', alg: 'RS256', kid, ...material };
}

/** @throws TypeError when it is not a private RSA key */
export async function toPrivateJwk(jwk: object): Promise<PrivateJwk> {
  return { ...(await toPublicJwk(jwk)), ...texts(jwk, ['d', 'p', 'q', 'dp', 'dq', 'qi']) };
}
