// A certificate for localhost that the TLS tests trust, created for each run: X.509 written by hand (RFC 5280), because Node
// signs but does not issue, and no key should be in the repository.
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.from([0]), bytes);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const time = (text: string): Buffer => der(0x17, Buffer.from(text, 'ascii'));

const ecdsaWithSha256 = sequence(der(0x06, hex('2a8648ce3d040302')));
const commonName = sequence(
  der(0x31, sequence(der(0x06, hex('550403')), der(0x0c, Buffer.from('localhost')))),
);
const loopback = der(0x87, Buffer.from([127, 0, 0, 1]));

/** subjectAltName: the names, and iPAddress 127.0.0.1 */
const altNames = (names: readonly string[]): Buffer =>
  sequence(...names.map((name) => der(0x82, Buffer.from(name))), loopback);

const extensions = (names: readonly string[]): Buffer =>
  der(0xa3, sequence(sequence(der(0x06, hex('551d11')), der(0x04, altNames(names)))));

/**
 * @param names of hosts that it is for
 * @returns PEM; self-signed, valid 2020 to 2049
 */
export function makeCertificate(names: readonly string[] = ['localhost']): {
  readonly key: string;
  readonly cert: string;
} {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName,
    sequence(time('200101000000Z'), time('491231000000Z')),
    commonName,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions(names),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}
