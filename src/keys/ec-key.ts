// The companion of a signing key: P-256 for ES256, for the applications whose ID tokens or userinfo answers ask for it. Identified
// by its RFC 7638 thumbprint, as the RSA key is.
import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { texts } from './jwk-members.ts';

export type EcPublicJwk = JWK & {
  kty: 'EC';
  crv: 'P-256';
  x: string;
  y: string;
  kid: string;
  alg: 'ES256';
  use: 'sig';
};
export type EcPrivateJwk = EcPublicJwk & { d: string };

const generateEc = promisify(generateKeyPair);

export async function generateEcKey(): Promise<JsonWebKey> {
  const { privateKey } = await generateEc('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'jwk' });
}

/** @throws TypeError when it is not a P-256 key */
export async function toEcPublicJwk(jwk: object): Promise<EcPublicJwk> {
  const { crv, ...point } = texts(jwk, ['crv', 'x', 'y']);
  if (crv !== 'P-256') throw new TypeError('the JWK is of another curve');
  const kid = await calculateJwkThumbprint({ kty: 'EC', crv, ...point });
  return { kty: 'EC', crv, use: 'sig', alg: 'ES256', kid, ...point };
}

/** @throws TypeError when it is not a private P-256 key */
export async function toEcPrivateJwk(jwk: object): Promise<EcPrivateJwk> {
  return { ...(await toEcPublicJwk(jwk)), ...texts(jwk, ['d']) };
}
