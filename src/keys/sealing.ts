// Encryption at rest: AES-256-GCM with keys derived from SECRET_KEY, one per purpose, so that a value
// sealed for one use cannot be used for another. Several secret keys may be listed for rotation: the newest seals, all open.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A sealed text cannot be opened. The message says why and what to do, never the content. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError';
  readonly reason: 'unknown_key' | 'not_authentic' | 'malformed';
  constructor(reason: UnsealError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Sealer {
  /** @param purpose the use and its owner's id; `open` needs the same one */
  seal(purpose: string, text: string): string;
  /** @throws UnsealError */
  open(purpose: string, sealed: string): string;
  /** Whether it was sealed with an older key. */
  needsReseal(sealed: string): boolean;
  /** @returns the same text sealed with the newest key; undefined when no listed key opens it */
  reseal(purpose: string, sealed: string): string | undefined;
}

const FORMAT = 'v1';
const IV_BYTES = 12; // NIST SP 800-38D §5.2.1.1
const TAG_BYTES = 16;

const derive = (secretKey: string, info: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `latchkey ${info}`, bytes));

/** @param secretKeys newest first, each with at least 128 bits of randomness */
export function createSealer(secretKeys: readonly string[]): Sealer {
  // The id reveals nothing about the key: HKDF outputs for different infos are independent (RFC 5869 §3.2).
  const keys = secretKeys.map((secretKey) => ({
    secretKey,
    id: derive(secretKey, 'key id', 6).toString('base64url'),
  }));
  const [newest] = keys;
  if (newest === undefined) throw new TypeError('createSealer needs at least one secret key');

  const sealer: Sealer = {
    seal(purpose, text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', derive(newest.secretKey, purpose, 32), iv);
      cipher.setAAD(Buffer.from(purpose, 'utf8'));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, newest.id, iv.toString('base64url'), sealed.toString('base64url')].join('.');
    },
    open(purpose, sealed) {
      const [format, keyId, ivText = '', sealedText = '', ...more] = sealed.split('.');
      const iv = Buffer.from(ivText, 'base64url');
      const bytes = Buffer.from(sealedText, 'base64url');
      if (format !== FORMAT || more.length > 0 || iv.length !== IV_BYTES || bytes.length < TAG_BYTES) {
        throw new UnsealError('malformed', 'This is not a sealed value.');
      }
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) {
        throw new UnsealError('unknown_key', 'This was sealed with a SECRET_KEY that is no longer listed.');
      }
      const decipher = createDecipheriv('aes-256-gcm', derive(key.secretKey, purpose, 32), iv, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(purpose, 'utf8'));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch (cause) {
        throw new UnsealError('not_authentic', 'A sealed value was altered, or sealed for another purpose.', {
          cause,
        });
      }
    },
    needsReseal: (sealed) => sealed.split('.')[1] !== newest.id,
    reseal(purpose, sealed) {
      try {
        return sealer.seal(purpose, sealer.open(purpose, sealed));
      } catch (error) {
        if (error instanceof UnsealError) return undefined;
        throw error;
      }
    },
  };
  return sealer;
}
