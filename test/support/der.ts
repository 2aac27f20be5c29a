// As much of DER (X.690) as certificates of tests have, written by hand: Node signs but does not issue, and no key should be in the
// repository.

export const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
export const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.from([0]), bytes);
export const octets = (bytes: Buffer): Buffer => der(0x04, bytes);
export const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
/** @param hex its encoded arcs */
export const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

const time = (text: string): Buffer => der(0x17, Buffer.from(text, 'ascii'));

/** Whose certificate it is, or who issued it. */
export const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

export const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
/** 2020 to 2049 */
export const validity = sequence(time('200101000000Z'), time('491231000000Z'));
