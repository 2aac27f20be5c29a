// A proof of possession (DPoP, RFC 9449 §4.2), where this server asks for tokens as an application would whose tokens have to be
// bound to a key: one that is forgotten at once.
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Clock, epochSeconds } from '../../clock.ts';

/** @param htu the address that is called */
export async function proofOfPost(htu: string, clock: Clock): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  return new SignJWT({ jti: randomUUID(), htm: 'POST', htu, iat: epochSeconds(clock) })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
    .sign(privateKey);
}
