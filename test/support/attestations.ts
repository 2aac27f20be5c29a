// Attestation statements (WebAuthn §8) of each registered format and of others, whose certificates name addresses that only a server
// that verifies them would call: revocation lists (RFC 5280 §4.2.1.13), issuers and responders (§4.2.2.1).
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Attested, Cbor, Lies } from './authenticator.ts';
import { bits, commonName, der, ecdsaWithSha256, integer, octets, oid, sequence, validity } from './der.ts';

type Attest = NonNullable<Lies['attest']>;

const uri = (address: string): Buffer => der(0x86, Buffer.from(address));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), octets(value));

const revocationListAt = (address: string): Buffer =>
  extension('551d1f', sequence(sequence(der(0xa0, der(0xa0, uri(address))))));

const authorityAt = (address: string): Buffer =>
  extension(
    '2b06010505070101',
    sequence(
      sequence(oid('2b06010505073001'), uri(`${address}/responder`)),
      sequence(oid('2b06010505073002'), uri(`${address}/issuer`)),
    ),
  );

/** What Android's keystore says about a key (KeyDescription): the challenge, and no rights for all applications. */
const keyDescription = (challenge: Buffer): Buffer =>
  extension(
    '2b06010401d679020111',
    sequence(
      integer(3),
      der(0x0a, Buffer.from([1])),
      integer(4),
      der(0x0a, Buffer.from([1])),
      octets(challenge),
      octets(Buffer.alloc(0)),
      sequence(),
      sequence(),
    ),
  );

const appleNonce = (nonce: Buffer): Buffer =>
  extension('2a864886f763640802', sequence(der(0xa1, octets(nonce))));

interface Issued {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly by: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificate({ subject, issuer, publicKey, by, extensions }: Issued): Buffer {
  const body = sequence(
    der(0xa0, integer(2)),
    integer(subject === issuer ? 1 : 2),
    ecdsaWithSha256,
    commonName(issuer),
    validity,
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  return sequence(body, ecdsaWithSha256, bits(sign('sha256', body, by)));
}

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

/** Leaf for the credential's own key, and the sender's own root. */
function chain({ authData, clientDataHash, publicKey }: Attested, address: string): Buffer[] {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const calls = [revocationListAt(`${address}/list`), authorityAt(address)];
  const about = [
    keyDescription(clientDataHash),
    appleNonce(sha256(Buffer.concat([authData, clientDataHash]))),
  ];
  const by = root.privateKey;
  return [
    certificate({ subject: 'leaf', issuer: 'root', publicKey, by, extensions: [...about, ...calls] }),
    certificate({ subject: 'root', issuer: 'root', publicKey: root.publicKey, by, extensions: calls }),
  ];
}

/** A signature as Google's SafetyNet made it: a JWS with its certificates in the header. */
function safetyNet(made: Attested, address: string): Buffer {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const x5c = chain(made, address).map((one) => one.toString('base64'));
  const nonce = sha256(Buffer.concat([made.authData, made.clientDataHash])).toString('base64');
  const head = `${part({ alg: 'ES256', x5c, x5u: `${address}/x5u`, jku: `${address}/jku` })}.${part({
    nonce,
    ctsProfileMatch: true,
    timestampMs: 1,
  })}`;
  return Buffer.from(`${head}.${sign('sha256', Buffer.from(head), made.privateKey).toString('base64url')}`);
}

function members(made: Attested, address: string): Map<string, Cbor> {
  const signature = sign('sha256', Buffer.concat([made.authData, made.clientDataHash]), made.privateKey);
  return new Map<string, Cbor>([
    ['alg', -7],
    ['sig', signature],
    ['x5c', chain(made, address)],
  ]);
}

const only = (all: Map<string, Cbor>, names: readonly string[]): Map<string, Cbor> =>
  new Map([...all].filter(([name]) => names.includes(name)));

/** @returns what a client may send, by what it is; what it names is at `address` */
export function attestationsThatCall(address: string): Readonly<Record<string, Attest>> {
  const whole =
    (fmt: Cbor): Attest =>
    (made) => ({ fmt, attStmt: members(made, address) });
  return {
    none: () => ({ fmt: 'none', attStmt: new Map() }),
    'none with a statement': whole('none'),
    packed: whole('packed'),
    'packed, signed by the credential itself': (made) => ({
      fmt: 'packed',
      attStmt: only(members(made, address), ['alg', 'sig']),
    }),
    tpm: (made) => ({
      fmt: 'tpm',
      attStmt: new Map<string, Cbor>([
        ...members(made, address),
        ['ver', '2.0'],
        ['certInfo', Buffer.alloc(64, 7)],
        ['pubArea', Buffer.alloc(64, 7)],
      ]),
    }),
    'android-key': whole('android-key'),
    'android-safetynet': (made) => ({
      fmt: 'android-safetynet',
      attStmt: new Map<string, Cbor>([
        ['ver', '14799021'],
        ['response', safetyNet(made, address)],
      ]),
    }),
    apple: (made) => ({ fmt: 'apple', attStmt: only(members(made, address), ['x5c']) }),
    'fido-u2f': (made) => ({ fmt: 'fido-u2f', attStmt: only(members(made, address), ['sig', 'x5c']) }),
    compound: (made) => ({
      fmt: 'compound',
      attStmt: [
        new Map<string, Cbor>([
          ['fmt', 'android-key'],
          ['attStmt', members(made, address)],
        ]),
      ],
    }),
    'an unknown format': whole('android-key-2'),
    'an empty format': whole(''),
    'a format that is a number': whole(7),
    'a format that is an address': whole(`${address}/fmt`),
    'a statement that is no map': () => ({ fmt: 'android-key', attStmt: [1, 2, 3] }),
    'a statement that is a text': () => ({ fmt: 'packed', attStmt: `${address}/statement` }),
  };
}
