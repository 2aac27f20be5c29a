// A certificate for localhost that the TLS tests trust, created for each run: X.509 written by hand (RFC 5280), because Node
// signs but does not issue, and no key should be in the repository.
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  bits,
  commonName,
  der,
  ecdsaWithSha256,
  integer,
  octets,
  oid,
  sequence,
  validity,
} from '../support/der.ts';

const loopback = der(0x87, Buffer.from([127, 0, 0, 1]));

/** subjectAltName: the names, and iPAddress 127.0.0.1 */
const altNames = (names: readonly string[]): Buffer =>
  sequence(...names.map((name) => der(0x82, Buffer.from(name))), loopback);

const extensions = (names: readonly string[]): Buffer =>
  der(0xa3, sequence(sequence(oid('551d11'), octets(altNames(names)))));

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
    der(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    commonName('localhost'),
    validity,
    commonName('localhost'),
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
