// Signing uses the callback API of node:crypto, which costs one thread-pool task per signature and nothing else. The library
// (ID tokens) and our access tokens share it.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from 'oidc-provider';
import { isDraft } from '../preview/draft.ts';

type Signer = KeyObject | { readonly key: KeyObject; readonly dsaEncoding: 'ieee-p1363' };

const signed = (data: Uint8Array, by: Signer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', data, by, (error, signature) => (error ? reject(error) : resolve(signature)));
  });

/** RS256 (RFC 7518 §3.3) with an RSA private key, ES256 (§3.4) with one of P-256. */
export class SigningKey extends ExternalSigningKey {
  readonly #signer: Signer;
  readonly #publicKey: KeyObject;

  constructor(privateJwk: JWK) {
    super();
    const key = createPrivateKey({ key: { ...privateJwk }, format: 'jwk' });
    const isElliptic = key.asymmetricKeyType === 'ec';
    this.#signer = isElliptic ? { key, dsaEncoding: 'ieee-p1363' } : key;
    this.#publicKey = createPublicKey(key);
    // The base class has setters for these two; the types show getters only.
    Object.assign(this, { kid: privateJwk.kid, alg: isElliptic ? 'ES256' : 'RS256' });
  }

  override keyObject(): KeyObject {
    return this.#publicKey;
  }

  override sign(data: Uint8Array): Promise<Buffer> {
    // Of a preview, where no token may come into being.
    return isDraft() ? Promise.resolve(Buffer.alloc(0)) : signed(data, this.#signer);
  }
}

/** A key that only verifies, before or after its time as signing key: ID tokens are sent as hints after a rotation. */
export class VerifyingKey extends ExternalSigningKey {
  readonly #publicKey: KeyObject;

  constructor(publicJwk: JWK) {
    super();
    this.#publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
    Object.assign(this, { kid: publicJwk.kid, alg: publicJwk.alg });
  }

  override keyObject(): KeyObject {
    return this.#publicKey;
  }
}
