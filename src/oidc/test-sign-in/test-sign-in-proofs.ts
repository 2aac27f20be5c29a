// Proofs of possession (DPoP, RFC 9449 §4.2) of a test sign-in, for an application whose tokens have to be bound to a key: the
// test acts as the application would, with a key of its own that it forgets.
import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Clock, epochSeconds } from '../../clock.ts';

/** @param path below BASE_URL; @param token the access token that the request shows */
export type MakeProof = (method: 'GET' | 'POST', path: string, token?: string) => Promise<string>;

interface Deps {
  readonly baseUrl: string;
  readonly clock: Clock;
}

export async function createProofMaker({ baseUrl, clock }: Deps): Promise<MakeProof> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  return (htm, path, token) =>
    new SignJWT({
      jti: randomUUID(),
      htm,
      htu: baseUrl + path,
      iat: epochSeconds(clock),
      ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(privateKey);
}
