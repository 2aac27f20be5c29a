// Writes small databases in MaxMind's format (MaxMind DB 2.0), so that none of a vendor's lies in the repository.

/** Numbers become uint32. */
export type MmdbValue =
  | string
  | number
  | boolean
  | readonly MmdbValue[]
  | { readonly [name: string]: MmdbValue };

export interface MmdbOptions {
  /** Networks, such as `203.0.113.0/24` or `2001:db8::/32`, by the record of each. */
  readonly networks: Readonly<Record<string, MmdbValue>>;
  readonly type?: string;
  readonly recordSize?: 24 | 28 | 32;
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

function head(type: number, size: number): Buffer {
  const bytes = type > 7 ? [0, type - 7] : [type << 5];
  if (size < 29) return Buffer.from([(bytes[0] ?? 0) | size, ...bytes.slice(1)]);
  return Buffer.from([(bytes[0] ?? 0) | 29, ...bytes.slice(1), size - 29]);
}

export function encodeMmdb(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([head(2, text.length), text]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([head(6, 4), bytes]);
  }
  if (typeof value === 'boolean') return head(14, value ? 1 : 0);
  if (isList(value)) return Buffer.concat([head(11, value.length), ...value.map(encodeMmdb)]);
  const entries = Object.entries(value);
  return Buffer.concat([head(7, entries.length), ...entries.flat().map(encodeMmdb)]);
}

const isList = (value: MmdbValue): value is readonly MmdbValue[] => Array.isArray(value);

/** Of an address of version 6, or of version 4 behind 96 zeros, as such files have it. */
function bitsOf(network: string): string {
  const [address = '', length = ''] = network.split('/');
  const bits = (number: number, width: number): string => number.toString(2).padStart(width, '0');
  if (!address.includes(':')) {
    const all = address.split('.').map((part) => bits(Number(part), 8));
    return '0'.repeat(96) + all.join('').slice(0, Number(length));
  }
  const [before = '', after = ''] = address.split('::');
  const groups = (part: string): string[] => part.split(':').filter(Boolean);
  const zeros = Array(8 - groups(before).length - groups(after).length).fill('0');
  const all = [...groups(before), ...zeros, ...groups(after)].map((part) =>
    bits(Number.parseInt(part, 16), 16),
  );
  return all.join('').slice(0, Number(length));
}

/** A node: on each side another node, or the place of a record in the data. */
type Side = { node: number } | { data: number } | undefined;

export function mmdb({ networks, type = 'Test-City', recordSize = 28 }: MmdbOptions): Buffer {
  const nodes: [Side, Side][] = [[undefined, undefined]];
  const data: Buffer[] = [];
  let length = 0;
  for (const [network, record] of Object.entries(networks)) {
    const place = length;
    data.push(encodeMmdb(record));
    length += data.at(-1)?.length ?? 0;
    const bits = [...bitsOf(network)].map(Number);
    let at = 0;
    bits.forEach((bit, index) => {
      const node = nodes[at] ?? [undefined, undefined];
      const side = bit === 1 ? 1 : 0;
      if (index === bits.length - 1) node[side] = { data: place };
      const next = node[side];
      if (index < bits.length - 1 && (next === undefined || !('node' in next))) {
        nodes.push([undefined, undefined]);
        node[side] = { node: nodes.length - 1 };
      }
      const led = node[side];
      if (led !== undefined && 'node' in led) at = led.node;
    });
  }
  const numberOf = (side: Side): number =>
    side === undefined ? nodes.length : 'node' in side ? side.node : nodes.length + 16 + side.data;
  const tree = nodes.map(([left, right]) => nodeBytes(numberOf(left), numberOf(right), recordSize));
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, metadata(nodes.length, recordSize, type)]);
}

function nodeBytes(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
    return bytes;
  }
  bytes.writeUIntBE(left % 2 ** 24, 0, 3);
  if (recordSize === 28) bytes[3] = (Math.floor(left / 2 ** 24) << 4) | Math.floor(right / 2 ** 24);
  bytes.writeUIntBE(right % 2 ** 24, recordSize === 28 ? 4 : 3, 3);
  return bytes;
}

export const metadata = (nodeCount: number, recordSize: number, type: string): Buffer =>
  Buffer.concat([
    MARKER,
    encodeMmdb({
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1_700_000_000,
      database_type: type,
      description: { en: 'made by a test' },
      ip_version: 6,
      languages: ['en', 'de'],
      node_count: nodeCount,
      record_size: recordSize,
    }),
  ]);

/** Two cities and a country. */
export const somePlaces = {
  '203.0.113.0/24': {
    city: { names: { en: 'Munich', de: 'München', ja: 'ミュンヘン' } },
    country: { iso_code: 'DE', names: { en: 'Germany' } },
  },
  '198.51.100.0/25': { city: { names: { en: 'Cairo' } }, country: { iso_code: 'EG' } },
  '2001:db8:1::/48': { country: { iso_code: 'CH', names: { en: 'Switzerland' } } },
  '127.0.0.0/8': { city: { names: { en: 'Berlin', ja: 'ベルリン' } }, country: { iso_code: 'DE' } },
  '0:0:0:0:0:0:0:1/128': { city: { names: { en: 'Berlin' } }, country: { iso_code: 'DE' } },
} as const;
