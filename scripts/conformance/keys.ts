// Keys of the applications of the FAPI plans: the suite signs with the private half, the provider is told the public one.
import { generateKeyPairSync } from 'node:crypto';

export interface ClientKeys {
  readonly privateJwks: object;
  readonly publicJwks: object;
}

/** PS256, so that the suite can also try RS256 with the same key, which FAPI 2.0 §5.4.1 rules out. */
export function createClientKeys(kid: string): ClientKeys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwks = (key: typeof publicKey) => ({
    keys: [{ ...key.export({ format: 'jwk' }), kid, alg: 'PS256', use: 'sig' }],
  });
  return { privateJwks: jwks(privateKey), publicJwks: jwks(publicKey) };
}
