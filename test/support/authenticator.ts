// An authenticator in software (WebAuthn §6): creates keys, signs challenges, and lies where a test requests it.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What our server sends, as far as an authenticator looks at it. */
export interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly clientData?: Readonly<Record<string, unknown>>;
  readonly counter?: number;
  /** Flags that are set (§6.1): UP 1, UV 4, BE 8, BS 16, AT 64. */
  readonly flags?: number;
  readonly userHandle?: string;
  /** Instead of the key's own. */
  readonly id?: string;
  /** The model that it reports: 16 bytes in hex. */
  readonly aaguid?: string;
  /** Instead of none. */
  readonly attest?: (made: Attested) => { readonly fmt: Cbor; readonly attStmt: Cbor };
  readonly tamper?: (response: Record<string, string>) => Record<string, string>;
}

/** What an attestation is about (WebAuthn §6.5). */
export interface Attested {
  readonly authData: Buffer;
  readonly clientDataHash: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface SoftKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  counter: number;
}

export interface Traits {
  /** BASE_URL's origin. */
  readonly origin: string;
  readonly canVerifyUser?: boolean;
  readonly isSynced?: boolean;
}

const UP = 1;
const UV = 4;
const BE = 8;
const BS = 16;
const AT = 64;

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const encode = (data: Buffer | string): string => Buffer.from(data).toString('base64url');

/** As much of CBOR (RFC 8949) as attestations have. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}
export type Cbor = number | string | Buffer | readonly Cbor[] | Map<number | string, Cbor>;
export function cbor(item: Cbor): Buffer {
  if (typeof item === 'number') return item >= 0 ? head(0, item) : head(1, -1 - item);
  if (typeof item === 'string') return Buffer.concat([head(3, Buffer.byteLength(item)), Buffer.from(item)]);
  if (Buffer.isBuffer(item)) return Buffer.concat([head(2, item.length), item]);
  if (!(item instanceof Map)) return Buffer.concat([head(4, item.length), ...item.map(cbor)]);
  return Buffer.concat([
    head(5, item.size),
    ...[...item].flatMap(([key, value]) => [cbor(key), cbor(value)]),
  ]);
}

export class Authenticator {
  readonly #traits: Traits;
  readonly keys: SoftKey[] = [];

  constructor(traits: Traits) {
    this.#traits = traits;
  }

  #flags(extra = 0): number {
    const { canVerifyUser = true, isSynced = false } = this.#traits;
    return UP | (canVerifyUser ? UV : 0) | (isSynced ? BE | BS : 0) | extra;
  }

  #clientData(type: string, options: Options, lies: Lies): string {
    const facts = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? options.challenge,
      origin: lies.origin ?? this.#traits.origin,
      crossOrigin: false,
      ...lies.clientData,
    };
    return JSON.stringify(facts);
  }

  #authData(rpId: string, flags: number, counter: number, rest = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, rest]);
  }

  /** Makes a key for whom the options name. */
  create(options: Options, lies: Lies = {}): Record<string, unknown> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const id = lies.id === undefined ? randomBytes(16) : Buffer.from(lies.id, 'base64url');
    const key: SoftKey = {
      id: encode(id),
      privateKey,
      userHandle: options.user?.id ?? '',
      counter: lies.counter ?? 0,
    };
    this.keys.push(key);
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const cose = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const aaguid = lies.aaguid === undefined ? Buffer.alloc(16) : Buffer.from(lies.aaguid, 'hex');
    const attested = Buffer.concat([aaguid, length, id, cbor(cose)]);
    const rpId = lies.rpId ?? options.rp?.id ?? '';
    const authData = this.#authData(rpId, lies.flags ?? this.#flags(AT), key.counter, attested);
    const clientData = this.#clientData('webauthn.create', options, lies);
    const made = { authData, clientDataHash: sha256(clientData), privateKey, publicKey };
    const { fmt, attStmt } = lies.attest?.(made) ?? { fmt: 'none', attStmt: new Map() };
    const attestation = new Map<string, Cbor>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', authData],
    ]);
    const response = {
      clientDataJSON: encode(clientData),
      attestationObject: encode(cbor(attestation)),
    };
    return {
      id: key.id,
      rawId: key.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { transports: ['internal'], ...(lies.tamper?.(response) ?? response) },
    };
  }

  /** Signs with the last key that was made, or with the one that is given. */
  get(
    options: Options,
    lies: Lies = {},
    key: SoftKey | undefined = this.keys.at(-1),
  ): Record<string, unknown> {
    if (key === undefined) throw new Error('there is no key');
    key.counter = lies.counter ?? key.counter + 1;
    const clientDataJSON = this.#clientData('webauthn.get', options, lies);
    const rpId = lies.rpId ?? options.rpId ?? '';
    const authenticatorData = this.#authData(rpId, lies.flags ?? this.#flags(), key.counter);
    const signature = sign(
      'sha256',
      Buffer.concat([authenticatorData, sha256(clientDataJSON)]),
      key.privateKey,
    );
    const response = {
      clientDataJSON: encode(clientDataJSON),
      authenticatorData: encode(authenticatorData),
      signature: encode(signature),
      userHandle: lies.userHandle ?? key.userHandle,
    };
    const id = lies.id ?? key.id;
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: lies.tamper?.(response) ?? response,
    };
  }
}
