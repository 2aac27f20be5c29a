// Signing uses the callback API of node:crypto, which costs one thread-pool task per signature and nothing else. The library
// (ID tokens) and our access tokens share it.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from 'oidc-provider';

const signRs256 = (key: KeyObject, data: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', data, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });

/** RS256 (RFC 7518 §3.3) with an RSA private key. */
export class SigningKey extends ExternalSigningKey {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(privateJwk: JWK) {
    super();
    this.#privateKey = createPrivateKey({ key: { ...privateJwk }, format: 'jwk' });
    this.#publicKey = createPublicKey(this.#privateKey);
    // The base class has setters for these two; the types show getters only.
    Object.assign(this, { kid: privateJwk.kid, alg: 'RS256' });
  }

  override keyObject(): KeyObject {
    return this.#publicKey;
  }

  override sign(data: Uint8Array): Promise<Buffer> {
    return signRs256(this.#privateKey, data);
  }
}

/** A key that only verifies, before or after its time as signing key: ID tokens are sent as hints after a rotation. */
export class VerifyingKey extends ExternalSigningKey {
  readonly #publicKey: KeyObject;

  constructor(publicJwk: JWK) {
    super();
    this.#publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
    Object.assign(this, { kid: publicJwk.kid, alg: 'RS256' });
  }

  override keyObject(): KeyObject {
    return this.#publicKey;
  }
}
