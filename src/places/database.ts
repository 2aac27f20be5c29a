// Reads MaxMind's format for data by network (MaxMind DB 2.0): a binary tree over the bits of an address, and a section of data
// that its leaves point into. A reader of our own, since whoever wrote the file may have meant harm: every step is bounded, a
// pointer that leads in a circle or out of the file ends the look-up, and nothing in the file decides how long it takes.

export interface PlaceDatabase {
  /** @param bytes of an IP address, 4 or 16; @returns the record of its network; undefined: none, or an unreadable one */
  find(bytes: Uint8Array): unknown;
}

/** Why a file cannot be used; a sentence for the operator. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** The metadata is in the last part of the file. */
const MAX_METADATA = 128 * 1024;
/** Between the tree and the data. */
const SEPARATOR = 16;
/** A record of a city has about 150 values, nested five deep. */
const MAX_VALUES = 2000;
const MAX_DEPTH = 16;
const MAX_TEXT = 512;

const TYPES = { pointer: 1, text: 2, uint16: 5, uint32: 6, map: 7, array: 11, boolean: 14 } as const;

class Unreadable extends Error {}

interface Read {
  readonly value: unknown;
  /** Where what follows begins. */
  readonly next: number;
}

/** @param start of the section that pointers count from */
function createDecoder(file: Buffer, start: number) {
  const byteAt = (at: number): number => file[at] ?? fail();
  const fail = (): never => {
    throw new Unreadable();
  };
  const numberAt = (at: number, length: number): number => {
    let number = 0;
    for (let index = 0; index < length; index += 1) number = number * 256 + byteAt(at + index);
    return number;
  };

  function sizeAt(at: number, control: number): { readonly size: number; readonly at: number } {
    const short = control & 31;
    if (short < 29) return { size: short, at };
    const length = short - 28;
    const base = [29, 285, 65_821][length - 1] ?? 0;
    return { size: base + numberAt(at, length), at: at + length };
  }

  function pointerAt(at: number, control: number): { readonly target: number; readonly next: number } {
    const length = ((control >> 3) & 3) + 1;
    const high = length === 4 ? 0 : (control & 7) * 256 ** length;
    const base = [0, 2048, 526_336, 0][length - 1] ?? 0;
    return { target: start + high + numberAt(at, length) + base, next: at + length };
  }

  function read(at: number, depth: number, budget: { left: number }, isTarget = false): Read {
    budget.left -= 1;
    if (budget.left < 0 || depth > MAX_DEPTH) return fail();
    const control = byteAt(at);
    const short = control >> 5;
    if (short === TYPES.pointer) {
      // A pointer to a pointer is against the format.
      if (isTarget) return fail();
      const { target, next } = pointerAt(at + 1, control);
      return { value: read(target, depth + 1, budget, true).value, next };
    }
    const type = short === 0 ? 7 + byteAt(at + 1) : short;
    const { size, at: from } = sizeAt(at + (short === 0 ? 2 : 1), control);
    if (type === TYPES.map) return readMap(from, size, depth, budget);
    if (type === TYPES.array) return readArray(from, size, depth, budget);
    if (type === TYPES.boolean) return { value: size !== 0, next: from };
    if (from + size > file.length) return fail();
    return { value: scalar(type, from, size), next: from + size };
  }

  function scalar(type: number, from: number, size: number): unknown {
    if (type === TYPES.text) return size > MAX_TEXT ? undefined : file.toString('utf8', from, from + size);
    const isNumber = type === TYPES.uint16 || type === TYPES.uint32;
    return isNumber && size <= 4 ? numberAt(from, size) : undefined;
  }

  function readMap(from: number, size: number, depth: number, budget: { left: number }): Read {
    const map = new Map<string, unknown>();
    let at = from;
    for (let index = 0; index < size; index += 1) {
      const key = read(at, depth + 1, budget);
      const value = read(key.next, depth + 1, budget);
      if (typeof key.value === 'string') map.set(key.value, value.value);
      at = value.next;
    }
    return { value: map, next: at };
  }

  function readArray(from: number, size: number, depth: number, budget: { left: number }): Read {
    const list: unknown[] = [];
    let at = from;
    for (let index = 0; index < size; index += 1) {
      const item = read(at, depth + 1, budget);
      list.push(item.value);
      at = item.next;
    }
    return { value: list, next: at };
  }

  /** @returns maps as Map */
  return (at: number): unknown => {
    try {
      return read(at, 0, { left: MAX_VALUES }).value;
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  };
}

interface Metadata {
  readonly nodeCount: number;
  readonly recordSize: 24 | 28 | 32;
  readonly isIpv6: boolean;
}

function metadataOf(file: Buffer): Metadata {
  const from = Math.max(0, file.length - MAX_METADATA);
  const marker = file.subarray(from).lastIndexOf(MARKER);
  if (marker < 0) throw new UnusableFile('is no MaxMind database, or is cut off');
  const start = from + marker + MARKER.length;
  const metadata = createDecoder(file, start)(start);
  const of = (name: string): unknown => (metadata instanceof Map ? metadata.get(name) : undefined);
  const [nodeCount, size, version, major] = [
    of('node_count'),
    of('record_size'),
    of('ip_version'),
    of('binary_format_major_version'),
  ];
  const recordSize = ([24, 28, 32] as const).find((one) => one === size);
  const isKnown = major === 2 && (version === 4 || version === 6);
  if (typeof nodeCount !== 'number' || nodeCount < 1 || recordSize === undefined || !isKnown)
    throw new UnusableFile('is damaged: it does not describe itself as a MaxMind database of format 2');
  const type = String(of('database_type'));
  if (
    !/city|country|location|enterprise|geo/i.test(type) ||
    /asn|isp|domain|anonymous|connection/i.test(type)
  )
    throw new UnusableFile(`has no places: its type is ${JSON.stringify(type.slice(0, 60))}`);
  return { nodeCount, recordSize, isIpv6: version === 6 };
}

/** @throws UnusableFile */
export function openDatabase(file: Buffer): PlaceDatabase {
  const { nodeCount, recordSize, isIpv6 } = metadataOf(file);
  const nodeBytes = recordSize / 4;
  const dataStart = nodeCount * nodeBytes + SEPARATOR;
  if (dataStart >= file.length) throw new UnusableFile('is cut off');
  const decode = createDecoder(file, dataStart);

  /** The node, or what it leads to, on the side of that bit. */
  function follow(node: number, bit: number): number {
    const at = node * nodeBytes;
    if (recordSize === 24) return file.readUIntBE(at + bit * 3, 3);
    if (recordSize === 32) return file.readUInt32BE(at + bit * 4);
    const middle = file[at + 3] ?? 0;
    const high = bit === 0 ? middle >> 4 : middle & 15;
    return high * 2 ** 24 + file.readUIntBE(at + bit * 4, 3);
  }

  /** Of addresses of version 4 in a tree of version 6: behind 96 zeros. */
  function rootOfIpv4(): number {
    let node = 0;
    for (let index = 0; index < 96 && node < nodeCount; index += 1) node = follow(node, 0);
    return node;
  }
  const ipv4Root = isIpv6 ? rootOfIpv4() : 0;

  return {
    find(bytes) {
      if (bytes.length === 16 && !isIpv6) return undefined;
      let node = bytes.length === 4 ? ipv4Root : 0;
      for (let index = 0; index < bytes.length * 8 && node < nodeCount; index += 1) {
        const bit = ((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;
        node = follow(node, bit);
      }
      // The number of nodes itself means that nothing is known.
      if (node <= nodeCount) return undefined;
      const at = node - nodeCount - SEPARATOR + dataStart;
      return at < dataStart || at >= file.length ? undefined : decode(at);
    },
  };
}
